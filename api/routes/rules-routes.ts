import { REQUIREMENTS, type RuleItem } from '../../lib/engine/listing/rule-item.js';
import type { Operations } from '../contract/operations.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { listResult, type WholeResult } from '../http/envelope.js';
import type { PreparedAnswers } from '../http/prepared-answers.js';
import { pageOf } from '../lists/list-parameters.js';
import {
  filterRules,
  parseLevelRange,
  requirementOf,
  type RuleFilter,
  ruleGroups,
  ruleRequirementValues,
  unknownRuleIds,
} from '../ruleset/filter-rules.js';
import type { RulesetCatalogue } from '../ruleset/ruleset-catalogue.js';
import { RULES } from '../ruleset/ruleset-resource.js';
import { rulesetFileRoutes } from './ruleset-file-routes.js';
import { type RulesetUploadRouteParts, rulesetUploadRoutes } from './ruleset-upload-routes.js';

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

/** Rules and rule files as they stand in the home (rest-api.md 6.5). */
export function rulesRoutes(
  catalogue: RulesetCatalogue,
  changes: RulesetUploadRouteParts,
  prepared: PreparedAnswers,
): OperationHandlers {
  const files = rulesetFileRoutes(RULES, catalogue);
  const { upload, remove } = rulesetUploadRoutes(RULES, changes);
  return {
    getRules: (request) => {
      const rules = catalogue.rules(RULES, request.permitted.files);
      return prepared.of(rules, request, () => listRules(rules, request.parameters));
    },

    getRulesGroups: (request) => {
      const rules = catalogue.rules(RULES, request.permitted.files);
      return prepared.of(rules, request, () => {
        const messages = {
          all: 'All groups in rules were returned',
          some: 'Some groups in rules were not returned',
          none: 'No groups in rules were returned',
        };
        return listResult({ ...pageOf(ruleGroups(rules), request.parameters), messages });
      });
    },

    getRulesRequirementRequirement: (request) => {
      const rules = catalogue.rules(RULES, request.permitted.files);
      return prepared.of(rules, request, () => {
        const requirement = requirementOf(request.parameters.requirement);
        const page = pageOf(ruleRequirementValues(rules, requirement), request.parameters);
        const messages = { all: 'All selected rules were returned', some: '-', none: 'No rule was returned' };
        return listResult({ ...page, messages });
      });
    },

    getRulesFiles: files.list,
    getRulesFilesFilename: files.show,
    putRulesFilesFilename: upload,
    deleteRulesFilesFilename: remove,
  };
}

/** @throws ApiError 1203, and those of `pageOf` */
function listRules(rules: readonly RuleItem[], parameters: Operations['getRules']['parameters']): WholeResult {
  const page = pageOf(filterRules(rules, ruleFilter(parameters)), parameters, {
    defaultSort: 'id',
    sortFields: RULE_SORT_FIELDS,
    selectFields: RULE_FIELDS,
    mandatoryFields: ['id'],
  });
  const failed = unknownRuleIds(rules, parameters.rule_ids ?? []).map((id) => ({ id, error: new ApiError(1208) }));
  const messages = {
    all: 'All selected rules were returned',
    some: 'Some rules were not returned',
    none: 'No rule was returned',
  };
  return listResult({ ...page, failed, messages });
}

/** @throws ApiError 1203 */
function ruleFilter(parameters: Operations['getRules']['parameters']): RuleFilter {
  const { level, ...others } = parameters;
  const range = level === undefined ? undefined : parseLevelRange(level);
  if (level !== undefined && range === undefined) throw new ApiError(1203, { extra: level });
  const requirements: Partial<Record<(typeof REQUIREMENTS)[number], string>> = {};
  for (const name of REQUIREMENTS) {
    const wanted = parameters[name === 'nist_800_53' ? 'nist-800-53' : name];
    if (wanted !== undefined) requirements[name] = wanted;
  }
  return { ...others, ...(range === undefined ? {} : { level: range }), requirements };
}
