// Runs a program of dist/programs/ (programs.mjs copies this file there): NAME.cjs, with the compiler's work of the build in
// NAME.compiled. Another version of Node refuses that, and compiles anew: slower by a tenth of a second, the same otherwise.
'use strict';
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { Script } = require('node:vm');

/** Names that a program finds; its own file begins at the first line, so that lines of stacks are right. */
const SCOPE = ['require', 'module', 'exports', 'programUrl'];

/** @returns the script of a program, whose result is a function of what SCOPE names */
function compileProgram(name, cachedData) {
  const filename = join(__dirname, `${name}.cjs`);
  return new Script(`(function (${SCOPE.join(', ')}) {${readFileSync(filename, 'latin1')}\n})`, {
    filename,
    cachedData,
  });
}

function compiledBefore(name) {
  try {
    return readFileSync(join(__dirname, `${name}.compiled`));
  } catch {
    return undefined;
  }
}

module.exports = function runProgram(name, programRequire) {
  const program = { exports: {} };
  const url = pathToFileURL(join(__dirname, `${name}.js`)).href;
  compileProgram(name, compiledBefore(name)).runInThisContext()(programRequire, program, program.exports, url);
};
module.exports.compileProgram = compileProgram;
