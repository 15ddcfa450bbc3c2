import { Page } from '../../parts/page.js';
import { Tabs } from '../../parts/tabs.js';
import type { PageProps } from '../../shell/page-props.js';
import { TEXTS } from '../../texts.js';
import { DecoderList } from './decoder-list.js';
import { FilesTab } from './files-tab.js';
import { ListFiles } from './list-files.js';
import { LogtestTab } from './logtest-tab.js';
import { RuleList } from './rule-list.js';
import { RulePage } from './rule-page.js';

const T = TEXTS.rules;

/** The ruleset: rules, decoders and lists, their files, and lines that are tried on them. */
export function RulesPage({ path: [id] }: PageProps) {
  if (id !== undefined) return <RulePage key={id} id={id} />;
  return (
    <Page title={TEXTS.nav.rules}>
      <Tabs
        label={T.tabs}
        tabs={[
          { key: 'rules', title: T.rules, show: () => <RuleList /> },
          { key: 'decoders', title: T.decoders, show: () => <DecoderList /> },
          { key: 'lists', title: T.lists, show: () => <ListFiles /> },
          { key: 'files', title: T.files, show: () => <FilesTab /> },
          { key: 'logtest', title: T.logtest, show: () => <LogtestTab /> },
        ]}
      />
    </Page>
  );
}
