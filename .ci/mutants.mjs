// What mutate.mjs changes in a source file, one place at a time.
import ts from 'typescript';

/** The least change of a comparison that is another one. */
const COMPARISONS = { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===', '&&': '||', '||': '&&' };

/** Each change of a node itself: what it is, the text that takes the place of `from`. */
function replacements(node) {
  const text = node.getText();
  const found = [];
  const add = (what, replacement, from = node) => found.push({ what, replacement, from });
  const condition = ts.isConditionalExpression(node) ? node.condition : node.expression;
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isConditionalExpression(node)) {
    // The opposite of an equality comes from its operator.
    if (!isEquality(condition)) add('condition turned round', `!(${condition.getText()})`, condition);
  } else if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText();
    const other = COMPARISONS[operator];
    if (other !== undefined) add(`${operator} is ${other}`, other, node.operatorToken);
  } else if (ts.isThrowStatement(node) || ts.isExpressionStatement(node)) {
    add('left out', ';');
  } else if (ts.isReturnStatement(node) && ts.isIfStatement(node.parent)) {
    add('left out', ';');
  } else if (ts.isNumericLiteral(node)) {
    add(`${text} is one more`, `(${text} + 1)`);
  } else if (ts.isStringLiteral(node) && node.text !== '' && isValue(node)) {
    add('empty text', "''");
  } else if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) {
    if (!ts.isLiteralTypeNode(node.parent)) add('the opposite', text === 'true' ? 'false' : 'true');
  } else if (ts.isPropertyAssignment(node) && isOption(node)) {
    add('option left out', '');
  }
  return found;
}

function isEquality(node) {
  return ts.isBinaryExpression(node) && ['===', '!=='].includes(node.operatorToken.getText());
}

/** Whether a text is a value, not a module, a type or a name. */
function isValue({ parent }) {
  return !(ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent) || ts.isLiteralTypeNode(parent));
}

/** Whether a property is one of an object written down as an argument. */
function isOption({ parent }) {
  return ts.isCallExpression(parent.parent) || ts.isNewExpression(parent.parent);
}

/**
 * @returns each change by its line and what it is, with the compiled module that has it
 */
export function mutantsOf(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const mutants = [];
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    for (const { what, replacement, from } of replacements(node)) {
      const start = from.getStart();
      let end = from.getEnd();
      if (replacement === '' && text[end] === ',') end++;
      const line = file.getLineAndCharacterOfPosition(start).line + 1;
      const shown = text.slice(start, from.getEnd()).replaceAll(/\s+/g, ' ');
      mutants.push({
        line,
        what: `\`${shown.length > 80 ? `${shown.slice(0, 77)}...` : shown}\`: ${what}`,
        code: compile(text.slice(0, start) + replacement + text.slice(end)),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return mutants;
}

function compile(text) {
  return ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  }).outputText;
}
