// What every module of the product exports and imports, read from its syntax alone.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The floors of the product; tests are read as well, but decide nothing. */
export const FLOORS = ['lib', 'daemons', 'api', 'bin'];

/** @returns modules by their path below the root: what each exports, and which names it imports of which module */
export function readModules() {
  const modules = new Map();
  for (const floor of [...FLOORS, 'test']) {
    for (const path of readdirSync(join(root, floor), { recursive: true })) {
      if (!/\.tsx?$/.test(path) || path.endsWith('.d.ts')) continue;
      const file = `${floor}/${path}`;
      modules.set(file, readModule(file, readFileSync(join(root, file), 'utf8')));
    }
  }
  return modules;
}

function readModule(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const module = { exports: new Map(), imports: [], identifiers: new Map() };
  const imports = (specifier, names) => {
    if (!specifier.startsWith('.')) return;
    const named = posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts');
    const target = existsSync(join(root, named)) ? named : `${named}x`;
    module.imports.push({ target, names });
  };
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) {
      imports(statement.moduleSpecifier.text, importedNames(statement.importClause));
    } else if (ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined) {
      imports(statement.moduleSpecifier.text, '*');
    } else if (statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) {
      const { line } = source.getLineAndCharacterOfPosition(statement.getStart(source));
      const isType = ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement);
      for (const name of declaredNames(statement)) module.exports.set(name, { line: line + 1, isType });
    }
  }
  const visit = (node) => {
    if (ts.isIdentifier(node)) module.identifiers.set(node.text, (module.identifiers.get(node.text) ?? 0) + 1);
    // Modules that are started as threads or processes, and those that are loaded on demand.
    if (ts.isNewExpression(node) && node.expression.text === 'URL') startedModule(node.arguments[0], imports);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      startedModule(node.arguments[0], imports);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return module;
}

function startedModule(argument, imports) {
  if (argument !== undefined && ts.isStringLiteral(argument) && argument.text.endsWith('.js'))
    imports(argument.text, '*');
}

function importedNames(clause) {
  const bindings = clause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return '*';
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

function declaredNames(statement) {
  if (!ts.isVariableStatement(statement)) return statement.name === undefined ? [] : [statement.name.text];
  return statement.declarationList.declarations.flatMap(({ name }) => bound(name));
}

function bound(name) {
  return ts.isIdentifier(name) ? [name.text] : name.elements.flatMap((each) => bound(each.name));
}
