import { REQUIREMENTS } from '../../lib/engine/listing/rule-item.js';
import type { Operations } from '../contract/operations.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { listResult } from '../http/envelope.js';
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
export function rulesRoutes(catalogue: RulesetCatalogue, changes: RulesetUploadRouteParts): OperationHandlers {
  const files = rulesetFileRoutes(RULES, catalogue);
  const { upload, remove } = rulesetUploadRoutes(RULES, changes);
  return {
    getRules: ({ caller, parameters }) => {
      const rules = catalogue.rules(RULES, caller);
      const ids = parameters.rule_ids;
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
      const page = pageOf(ruleGroups(catalogue.rules(RULES, caller)), parameters);
      const messages = {
        all: 'All groups in rules were returned',
        some: 'Some groups in rules were not returned',
        none: 'No groups in rules were returned',
      };
      return listResult({ ...page, messages });
    },

    getRulesRequirementRequirement: ({ caller, parameters }) => {
      const requirement = requirementOf(parameters.requirement);
      const page = pageOf(ruleRequirementValues(catalogue.rules(RULES, caller), requirement), parameters);
      const messages = { all: 'All selected rules were returned', some: '-', none: 'No rule was returned' };
      return listResult({ ...page, messages });
    },

    getRulesFiles: files.list,
    getRulesFilesFilename: files.show,
    putRulesFilesFilename: upload,
    deleteRulesFilesFilename: remove,
  };
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
