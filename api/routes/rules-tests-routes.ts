import type { Home } from '../../lib/home/home.js';
import { readTestFile } from '../../lib/ruleset/tests/read-test-file.js';
import { RuleTestError } from '../../lib/ruleset/tests/rule-test.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { dataResult, listResult, rawResult } from '../http/envelope.js';
import { uploadedText } from '../http/uploaded-text.js';
import { pageOf } from '../lists/list-parameters.js';
import { deniedRuleset } from '../rbac/denied-error.js';
import type { RulesetUploads } from '../ruleset/ruleset-uploads.js';
import { OwnTestFiles, TESTS_DIRECTORY } from '../ruleset/tests/own-test-files.js';
import type { RulesetTests } from '../ruleset/tests/ruleset-tests.js';
import { checkFileName, fileExists } from '../ruleset/upload-target.js';
import { outcome } from './ruleset-upload-routes.js';

const FIELDS = ['relative_dirname', 'filename'];

export type RulesTestsRouteParts = {
  readonly home: Home;
  readonly tests: RulesetTests;
  readonly uploads: RulesetUploads;
};

/** Tests of the ruleset: running them on files as they would be, and the user's own files of them (rest-api.md 6.20). */
export function rulesTestsRoutes({ home, tests, uploads }: RulesTestsRouteParts): OperationHandlers {
  const own = new OwnTestFiles(home);
  return {
    putRulesTests: async ({ body, signal, permitted, caller }) => {
      if (!permitted.whole) throw deniedRuleset();
      const { files = [], tests: wanted = 'own' } = body;
      const order = {
        home: home.root,
        files: files.map(({ path, content = null }) => ({ path, content })),
        tests: wanted,
      };
      return dataResult(await tests.run(order, { signal, user: caller.user.id }));
    },

    getRulesTestsFiles: ({ permitted, parameters }) => {
      const files = own.list();
      const allowed = permitted.files.of(files.map(({ filename }) => filename));
      const page = pageOf(
        files.filter(({ filename }) => allowed.has(filename)),
        parameters,
        { defaultSort: 'filename', sortFields: FIELDS },
      );
      const messages = {
        all: 'All files of tests were returned',
        some: 'Some files of tests were not returned',
        none: 'No file of tests was returned',
      };
      return listResult({ ...page, messages });
    },

    getRulesTestsFilesFilename: ({ parameters: { filename } }) => {
      if (!own.has(filename)) throw new ApiError(8008, { extra: filename });
      return rawResult('text/plain; charset=utf-8', own.read(filename));
    },

    putRulesTestsFilesFilename: (request) => {
      const { filename, overwrite } = request.parameters;
      checkFileName(filename);
      const text = uploadedText(request.body);
      const path = `${TESTS_DIRECTORY}/${filename}`;
      const messages = { all: 'File of tests was stored', some: '-', none: 'Could not store the file of tests' };
      return outcome(path, messages, async () => {
        checkTests(text, path);
        own.makeDirectory();
        const refuse = () => {
          if (fileExists(home, path) && !overwrite) throw new ApiError(1905);
        };
        await uploads.storeUnchecked(path, text, refuse, request);
      });
    },

    deleteRulesTestsFilesFilename: (request) => {
      const { filename } = request.parameters;
      checkFileName(filename);
      const path = `${TESTS_DIRECTORY}/${filename}`;
      const messages = { all: 'File of tests was deleted', some: '-', none: 'Could not delete the file of tests' };
      return outcome(path, messages, async () => {
        own.checkDirectory();
        const refuse = () => {
          if (!fileExists(home, path)) throw new ApiError(1906);
        };
        await uploads.remove([path], refuse, request);
      });
    },
  };
}

/** @throws ApiError 8009 with line */
function checkTests(text: string, path: string): void {
  try {
    readTestFile(text, path);
  } catch (error) {
    if (error instanceof RuleTestError) throw new ApiError(8009, { extra: error.message });
    throw error;
  }
}
