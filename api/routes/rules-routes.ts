import { readFile } from 'node:fs/promises';
import { ConfigError } from '../../lib/config/config-error.js';
import type { Logger } from '../../lib/daemon/logger.js';
import { filterFiles, type FileFilter } from '../../lib/engine/listing/filter-files.js';
import {
  filterRules,
  parseLevelRange,
  parseRequirement,
  ruleGroups,
  ruleRequirementValues,
  unknownRuleIds,
  type RuleFilter,
} from '../../lib/engine/listing/filter-rules.js';
import type { ListedFile, ListingProblem } from '../../lib/engine/listing/listing-source.js';
import { parseListedFile } from '../../lib/engine/listing/parse-listed-file.js';
import { REQUIREMENTS, type RuleItem } from '../../lib/engine/listing/rule-item.js';
import { xmlAsJson } from '../../lib/engine/listing/xml-as-json.js';
import type { RulesetDirectory, RulesetPaths } from '../../lib/ruleset/ruleset-directory.js';
import type { Caller } from '../auth/authenticator.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, Handlers } from '../http/api-request.js';
import { listResult, rawResult, type ApiResult } from '../http/envelope.js';
import type { ParameterValues } from '../http/parameter-values.js';
import type { ManagerConfiguration } from '../manager-configuration.js';
import { pageOf } from './list-parameters.js';

const RULE_FIELDS = [
  'filename',
  'relative_dirname',
  'id',
  'level',
  'status',
  'details',
  ...REQUIREMENTS,
  'groups',
  'description',
];
const RULE_SORT_FIELDS = ['filename', 'relative_dirname', 'description', 'id', 'level', 'status'];
const FILE_FIELDS = ['filename', 'relative_dirname', 'status'];

/** Problems of rule files that were logged already; more than this and they are logged again. */
const MAX_REMEMBERED_PROBLEMS = 1000;

export type RulesRouteParts = {
  readonly ruleset: RulesetDirectory;
  readonly configuration: ManagerConfiguration;
  readonly logger: Logger;
};

/** Rules and rule files as they stand in the home (rest-api.md 6.5). */
export function rulesRoutes(parts: RulesRouteParts): Handlers {
  const catalogue = new RuleCatalogue(parts);
  return {
    getRules: ({ caller, parameters }) => {
      const rules = catalogue.rules(caller);
      const ids = parameters.integers('rule_ids');
      const page = pageOf(filterRules(rules, ruleFilter(parameters)), parameters, {
        defaultSort: 'id',
        sortFields: RULE_SORT_FIELDS,
        selectFields: RULE_FIELDS,
        mandatoryFields: ['id'],
      });
      const failed = unknownRuleIds(rules, ids ?? []).map((id) => ({ id, error: new ApiError(1208) }));
      const messages = {
        all: 'All selected rules were returned',
        some: 'Some rules were not returned',
        none: 'No rule was returned',
      };
      return listResult({ ...page, failed, messages });
    },

    getRulesGroups: ({ caller, parameters }) => {
      const page = pageOf(ruleGroups(catalogue.rules(caller)), parameters);
      const messages = {
        all: 'All groups in rules were returned',
        some: 'Some groups in rules were not returned',
        none: 'No groups in rules were returned',
      };
      return listResult({ ...page, messages });
    },

    getRulesRequirementRequirement: ({ caller, parameters }) => {
      const requirement = parseRequirement(parameters.requiredText('requirement'));
      if (requirement === undefined) throw new ApiError(1205);
      const page = pageOf(ruleRequirementValues(catalogue.rules(caller), requirement), parameters);
      const messages = { all: 'All selected rules were returned', some: '-', none: 'No rule was returned' };
      return listResult({ ...page, messages });
    },

    getRulesFiles: ({ caller, parameters }) => {
      const filter = { ...fileFilter(parameters), exactDirname: true };
      const page = pageOf(filterFiles(catalogue.files(caller), filter), parameters, {
        defaultSort: 'filename',
        sortFields: FILE_FIELDS,
        selectFields: FILE_FIELDS,
        mandatoryFields: ['filename'],
      });
      const messages = {
        all: 'All rule files were returned',
        some: 'Some rule files were not returned',
        none: 'No rule files were returned',
      };
      return listResult({ ...page, messages });
    },

    getRulesFilesFilename: (request) => ruleFile(parts.ruleset, catalogue, request),
  };
}

/** Rules and files that a caller may see. */
class RuleCatalogue {
  readonly #parts: RulesRouteParts;
  readonly #reported = new Set<string>();

  constructor(parts: RulesRouteParts) {
    this.#parts = parts;
  }

  /** @throws ApiError 1200 for the configuration, 4000 when nothing may be seen */
  files(caller: Caller): ListedFile[] {
    const files = this.#parts.ruleset.ruleFiles(this.#paths());
    const allowed = allowedFiles(caller, files);
    return files.filter(({ filename }) => allowed.has(filename));
  }

  /** As {@link files}. What cannot be listed is logged once, with file and line. */
  rules(caller: Caller): RuleItem[] {
    const paths = this.#paths();
    const allowed = allowedFiles(caller, this.#parts.ruleset.ruleFiles(paths));
    const { items, problems } = this.#parts.ruleset.rules(paths);
    this.#report(problems);
    return items.filter(({ filename }) => allowed.has(filename));
  }

  #paths(): RulesetPaths {
    try {
      return this.#parts.configuration.ruleset();
    } catch (error) {
      if (error instanceof ConfigError) throw new ApiError(1200, { extra: error.message });
      throw error;
    }
  }

  #report(problems: readonly ListingProblem[]): void {
    for (const { relative_dirname, filename, line, message } of problems) {
      const text = `Rules cannot be listed: ${relative_dirname}/${filename}${line > 0 ? `, line ${line}` : ''}: ${message}`;
      if (this.#reported.has(text)) continue;
      if (this.#reported.size >= MAX_REMEMBERED_PROBLEMS) this.#reported.clear();
      this.#reported.add(text);
      this.#parts.logger.warn(text);
    }
  }
}

function allowedFiles(caller: Caller, files: readonly ListedFile[]): Set<string> {
  const names = files.map(({ filename }) => filename);
  return caller.permissions.allowedOrRefuse('rules:read', 'rule:file', names);
}

function fileFilter(parameters: ParameterValues): FileFilter {
  const status = parameters.text('status');
  const filenames = parameters.texts('filename');
  const relativeDirname = parameters.text('relative_dirname');
  return {
    ...(status === 'enabled' || status === 'disabled' ? { status } : {}),
    ...(filenames === undefined ? {} : { filenames }),
    ...(relativeDirname === undefined ? {} : { relativeDirname }),
  };
}

/** @throws ApiError 1203 */
function ruleFilter(parameters: ParameterValues): RuleFilter {
  const level = parameters.text('level');
  const range = level === undefined ? undefined : parseLevelRange(level);
  if (level !== undefined && range === undefined) throw new ApiError(1203, { extra: level });
  const requirements: Partial<Record<(typeof REQUIREMENTS)[number], string>> = {};
  for (const name of REQUIREMENTS) {
    const wanted = parameters.text(name === 'nist_800_53' ? 'nist-800-53' : name);
    if (wanted !== undefined) requirements[name] = wanted;
  }
  const ruleIds = parameters.integers('rule_ids');
  const group = parameters.text('group');
  return {
    ...fileFilter(parameters),
    ...(ruleIds === undefined ? {} : { ruleIds }),
    ...(group === undefined ? {} : { group }),
    ...(range === undefined ? {} : { level: range }),
    requirements,
  };
}

/** Of several files of the name the one in the shortest directory, or the one below `relative_dirname`. */
async function ruleFile(
  ruleset: RulesetDirectory,
  catalogue: RuleCatalogue,
  { caller, parameters }: ApiRequest,
): Promise<ApiResult> {
  const filename = parameters.requiredText('filename');
  const below = parameters.text('relative_dirname');
  const [file] = catalogue
    .files(caller)
    .filter((candidate) => candidate.filename === filename)
    .filter(({ relative_dirname }) => below === undefined || isBelow(relative_dirname, below))
    .sort((a, b) => a.relative_dirname.length - b.relative_dirname.length);
  const messages = { all: 'Selected rule was returned', some: '-', none: 'No rule was returned' };
  const failure = (error: ApiError) => listResult({ items: [], total: 0, failed: [{ id: filename, error }], messages });

  if (file === undefined) return failure(new ApiError(1415, { extra: filename }));
  let content: string;
  try {
    content = await readFile(ruleset.pathOf(file), 'utf8');
  } catch {
    return failure(new ApiError(1414, { extra: `${file.relative_dirname}/${filename}` }));
  }
  if (parameters.flag('raw')) return rawResult('application/xml; charset=utf-8', content);
  const roots = parseListedFile({ file, content });
  if ('message' in roots) {
    return failure(new ApiError(1413, { extra: `${roots.message} (line ${roots.line})` }));
  }
  return listResult({ items: [xmlAsJson(roots)], total: 1, messages });
}

function isBelow(directory: string, parent: string): boolean {
  const top = parent.replace(/\/+$/, '');
  return directory === top || directory.startsWith(`${top}/`);
}
