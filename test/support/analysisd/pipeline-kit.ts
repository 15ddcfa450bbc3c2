import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Counters } from '../../../daemons/analysisd/counters.js';
import { EngineDiagnostics } from '../../../daemons/analysisd/engine-diagnostics.js';
import { Pipeline, type PipelineParts } from '../../../daemons/analysisd/pipeline/pipeline.js';
import { loadSettings } from '../../../daemons/analysisd/settings.js';
import type { ReceivedEvent } from '../../../lib/bus/bus-event.js';
import { listedBatch } from '../bus/listed-batch.js';
import { writeEngineFiles } from '../engine/engine-files.js';
import { eventually } from '../eventually.js';
import { RecordingLogger } from '../recording-logger.js';
import { removeTree } from '../remove-tree.js';
import { TemporaryHome } from '../temporary-home.js';

const DECODERS = `<decoder name="door"><program_name>^doord$</program_name></decoder>
<decoder name="door-open"><parent>door</parent><prematch>^opened</prematch>
  <regex>^opened by (\\S+) number (\\d+)$</regex><order>user, door.number</order><fts>name, user</fts></decoder>
<decoder name="fw"><program_name>^fwd$</program_name><type>firewall</type></decoder>
<decoder name="fw-1"><parent>fw</parent><regex>^(\\w+) (\\w+) (\\S+):(\\d+) (\\S+):(\\d+)</regex>
  <order>action,protocol,srcip,srcport,dstip,dstport</order></decoder>`;

/** Rules with every kind of memory: frequency, first time seen, changed output, ignore. */
export function statefulRules(level = 5): string {
  return `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
  <rule id="7" level="0" noalert="1"><category>ossec</category><description>Any of our own.</description></rule>
  <rule id="2" level="0" noalert="1"><category>firewall</category><description>Any firewall.</description></rule>
</group>
<group name="door,">
  <rule id="100200" level="${String(level)}"><decoded_as>door</decoded_as><description>Door $(door.number) opened.</description></rule>
  <rule id="100201" level="6"><if_sid>100200</if_sid><if_fts /><description>A new user.</description></rule>
  <rule id="100203" level="7" ignore="30"><if_sid>100200</if_sid><user>^eve</user><description>Eve.</description></rule>
  <rule id="100204" level="3"><if_sid>100200</if_sid><user>^dan</user><check_diff /><description>Dan changed.</description></rule>
  <rule id="100210" level="12" frequency="3" timeframe="60"><if_matched_sid>100200</if_matched_sid><same_user />
    <description>Many doors opened.</description></rule>
  <rule id="100220" level="4"><category>ossec</category><decoded_as>sca</decoded_as>
    <description>Check $(sca.check.id) is $(sca.check.result), was $(sca.check.previous_result), score $(sca.score).</description></rule>
  <rule id="100221" level="0"><category>ossec</category><decoded_as>rootcheck</decoded_as><description>Rootcheck.</description></rule>
  <rule id="100222" level="5"><if_sid>100221</if_sid><if_fts /><description>Rootcheck for the first time: $(title)</description></rule>
  <rule id="100223" level="4"><category>ossec</category><decoded_as>hostinfo_modified</decoded_as><description>A host changed.</description></rule>
  <rule id="100224" level="4"><category>ossec</category><decoded_as>syscheck_integrity_changed</decoded_as><description>$(file) changed.</description></rule>
</group>`;
}

/** Settings of a pipeline's home; what is left out is as shipped. */
export type PipelineHomeOptions = { readonly sections?: string; readonly rules?: string; readonly decoders?: string };

const COPY_ATTEMPTS = 20;

/** A home in which a pipeline finds configuration and a small ruleset. */
export class PipelineHome extends TemporaryHome {
  readonly logger = new RecordingLogger();
  /** Bound on the memory of remembered events; undefined leaves the default. */
  maxRememberedBytes: number | undefined;
  /** Epoch milliseconds the pipelines of this home go by. */
  now: number;

  constructor(now: number, { sections = '', rules = statefulRules(), decoders = DECODERS }: PipelineHomeOptions = {}) {
    super();
    this.now = now;
    writeEngineFiles(this, { name: 'door', text: decoders });
    this.writeRules(rules);
    this.configure(sections);
  }

  writeRules(text: string): void {
    writeFileSync(this.path('ruleset/rules/door.xml'), text);
  }

  configure(sections: string): void {
    writeFileSync(this.path('etc/manager.conf'), `<manager_config>${sections}</manager_config>\n`);
  }

  /** What is on the disk at this moment, as a crash would leave it, in the place of another home. */
  copyTo(other: PipelineHome): void {
    for (const directory of ['queue', 'logs', 'stats', 'ruleset', 'etc']) {
      if (existsSync(this.path(directory))) copyMoving(this.path(directory), other.path(directory));
      else removeTree(other.path(directory));
    }
    other.now = this.now;
  }

  /**
   * Dated outputs and the small files beside them, by path. Not the logs of `check_diff`: their files are a checkpoint
   * behind.
   */
  files(): Map<string, string> {
    const files = new Map<string, string>();
    for (const area of ['logs/alerts', 'logs/archives', 'logs/firewall', 'queue/responses', 'queue/fts', 'stats']) {
      this.#collect(area, files);
    }
    return files;
  }

  #collect(path: string, files: Map<string, string>): void {
    if (!existsSync(this.path(path))) return;
    for (const name of readdirSync(this.path(path))) {
      const inner = join(path, name);
      if (statSync(this.path(inner)).isDirectory()) this.#collect(inner, files);
      else files.set(inner, readFileSync(this.path(inner), 'latin1'));
    }
  }
}

/** A pipeline in this process with what stands around it in the daemon. */
export class TestPipeline {
  private constructor(
    readonly home: PipelineHome,
    readonly pipeline: Pipeline,
    readonly counters: Counters,
  ) {}

  /** @param parts what is not as usual */
  static async start(
    home: PipelineHome,
    parts: Partial<Pick<PipelineParts, 'epsLimiter' | 'threadProgram'>> = {},
  ): Promise<TestPipeline> {
    const counters = new Counters(home.now);
    const pipeline = await Pipeline.open({
      home,
      logger: home.logger,
      setProblem: () => {},
      settings: loadSettings(home),
      counters,
      epsLimiter: undefined,
      now: () => home.now,
      onWritten: () => {},
      maxRememberedBytes: home.maxRememberedBytes,
      // The log of the state is begun anew all the time.
      logSpareBytes: 1000,
      ...parts,
    });
    await pipeline.start((error) => {
      home.logger.critical(String(error));
    });
    return new TestPipeline(home, pipeline, counters);
  }

  /** As the sink: what a stream is past already is dropped, the rest is acknowledged when this resolves. */
  async take(events: readonly ReceivedEvent[]): Promise<void> {
    const { positions } = this.pipeline;
    const fresh = events.filter(({ stream, sequence }) => sequence > (positions.get(stream) ?? 0));
    const last = new Map(fresh.map(({ stream, sequence }) => [stream, sequence]));
    if (fresh.length > 0) await this.pipeline.take(listedBatch(fresh));
    for (const [stream, sequence] of last) positions.set(stream, sequence);
  }

  async reload(): Promise<void> {
    const { home, pipeline } = this;
    await pipeline.reload(loadSettings(home), new EngineDiagnostics(home.logger));
  }

  /** Resolves when the alerts of everything taken so far are written. */
  async written(): Promise<void> {
    await eventually('everything is written', () => this.pipeline.isIdle && !this.pipeline.replaying);
  }
}

/** Copies a directory whose files may be renamed meanwhile, by a write that is under way. */
function copyMoving(from: string, to: string): void {
  for (let attempt = 1; ; attempt += 1) {
    removeTree(to);
    try {
      cpSync(from, to, { recursive: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === COPY_ATTEMPTS) throw error;
    }
  }
}
