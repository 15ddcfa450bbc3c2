import { type ClusterNode, useNodes } from '../../client/use-nodes.js';
import { SelectField } from '../../parts/select-field.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';

const T = TEXTS.manager;
/** Parts of the page that are the same on all nodes. */
const COMMON: readonly (string | null)[] = ['users', 'roles'];

/** Which node of a cluster the page is about; nothing where a manager is alone. */
export function NodeChooser() {
  const [params, change] = useParams();
  const nodes = useNodes();
  if (nodes === undefined || COMMON.includes(params.get('tab'))) return null;
  return (
    <SelectField
      label={T.node}
      value={params.get('node') ?? nodes.own}
      options={nodes.all.map((node) => [node.name, titleOf(node)] as const)}
      onChange={(node) => change({ node, offset: undefined })}
    />
  );
}

function titleOf({ name, isMaster, isHeard }: ClusterNode): string {
  if (!isHeard) return T.nodeAway(name);
  return isMaster ? T.nodeMaster(name) : name;
}
