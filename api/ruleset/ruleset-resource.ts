import type { ListMessages } from '../http/envelope.js';
import type { ErrorCode } from '../http/error-code.js';
import type { DirectoryRules } from './upload-target.js';

/** What differs between the operations on rules and those on decoders (rest-api.md 6.5, 6.6). */
export type RulesetResource = {
  readonly name: 'rules' | 'decoders';
  /** Resource of the access rules. */
  readonly resource: 'rule:file' | 'decoder:file';
  /** Plural at the start of a sentence. */
  readonly title: string;
  readonly errors: {
    /** The ruleset section of the main configuration cannot be read. */
    readonly configuration: ErrorCode;
    readonly notFound: ErrorCode;
    readonly badXml: ErrorCode;
    readonly unreadable: ErrorCode;
    /** Refusals of a directory to store files in. */
    readonly directory: DirectoryRules['errors'];
  };
  readonly messages: Readonly<Record<'files' | 'file' | 'upload' | 'remove', ListMessages>>;
};

export const RULES: RulesetResource = {
  name: 'rules',
  resource: 'rule:file',
  title: 'Rules',
  errors: {
    configuration: 1200,
    notFound: 1415,
    badXml: 1413,
    unreadable: 1414,
    directory: { notConfigured: 1209, shipped: 1210, missing: 1211 },
  },
  messages: {
    files: {
      all: 'All rule files were returned',
      some: 'Some rule files were not returned',
      none: 'No rule files were returned',
    },
    file: { all: 'Selected rule was returned', some: '-', none: 'No rule was returned' },
    upload: { all: 'Rule was successfully uploaded', some: '-', none: 'Could not upload rule' },
    remove: { all: 'Rule was successfully deleted', some: '-', none: 'Could not delete rule' },
  },
};

export const DECODERS: RulesetResource = {
  name: 'decoders',
  resource: 'decoder:file',
  title: 'Decoders',
  errors: {
    configuration: 1500,
    notFound: 1503,
    badXml: 1501,
    unreadable: 1502,
    directory: { notConfigured: 1505, shipped: 1506, missing: 1507 },
  },
  messages: {
    files: {
      all: 'All decoder files were returned',
      some: 'Some decoder files were not returned',
      none: 'No decoder files were returned',
    },
    file: { all: 'Selected decoder was returned', some: '-', none: 'No decoder was returned' },
    upload: { all: 'Decoder was successfully uploaded', some: '-', none: 'Could not upload decoder' },
    remove: { all: 'Decoder file was successfully deleted', some: '-', none: 'Could not delete decoder file' },
  },
};
