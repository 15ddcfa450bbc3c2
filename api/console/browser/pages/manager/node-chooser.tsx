import { type ClusterNode, useNodes } from '../../client/use-nodes.js';
import { SelectField } from '../../parts/select-field.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { useScope } from './scope.js';

const T = TEXTS.manager;
/** Parts of the page that are the same on all nodes. */
const COMMON: readonly (string | null)[] = ['users', 'roles'];

/**
 * Which node of a cluster the page is about. Where nodes are not known, because a manager is alone or the user may not see them, there is only
 * a way back from one that the address of the page names.
 */
export function NodeChooser() {
  const [params, change] = useParams();
  const nodes = useNodes();
  const { node: named } = useScope();
  if (COMMON.includes(params.get('tab')) || (nodes === undefined && named === undefined)) return null;
  return (
    <SelectField
      label={T.node}
      value={named ?? nodes?.own ?? ''}
      options={nodes?.all.map((node) => [node.name, titleOf(node)] as const) ?? [['', T.nodeOwn]]}
      onChange={(node) => change({ node, offset: undefined })}
    />
  );
}

function titleOf({ name, isMaster, isHeard }: ClusterNode): string {
  if (!isHeard) return T.nodeAway(name);
  return isMaster ? T.nodeMaster(name) : name;
}
