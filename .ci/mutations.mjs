// Small mistakes that can be made in a module, found by TypeScript's own parser.
import {
  SyntaxKind, isAwaitExpression, isBinaryExpression, isConditionalExpression, isExpressionStatement,
  isIfStatement, isImportDeclaration, isNumericLiteral, isThrowStatement, isTypeNode,
  isWhileStatement,
} from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { resolve } from 'node:path';

const BOUNDS = new Map([
  [SyntaxKind.LessThanToken, '<='], [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='], [SyntaxKind.GreaterThanEqualsToken, '>'],
]);
const JUNCTIONS = new Map([
  [SyntaxKind.AmpersandAmpersandToken, '||'], [SyntaxKind.BarBarToken, '&&'],
]);
// An invariant that holds is seen by nobody; `super` must be called.
const NEEDLESS_STATEMENT = /^(?:assert(?:\.\w+)?|super)\(/;

/**
 * For each path its mistakes: `{ path, line, kind, text, start, end, replacement }`, where `text` stands
 * in the source from `start` to `end`.
 */
export function findMutations(paths) {
  const api = new API({ cwd: process.cwd() });
  try {
    const snapshot = api.updateSnapshot({ openProject: resolve('tsconfig.json') });
    const { program } = snapshot.getProjects()[0];
    return paths.flatMap((path) => mutationsOf(program.getSourceFile(path), path));
  } finally {
    // After `close` its process, which shares our stderr, may still write "context canceled" there.
    api.client.channel.child.kill('SIGKILL');
  }
}

function mutationsOf(file, path) {
  const mutations = [];
  const visit = (node) => {
    if (isTypeNode(node) || isImportDeclaration(node)) return;
    for (const [kind, place, replacement] of mistakesAt(node, (part) => part.getText(file))) {
      const start = place.getStart(file);
      const text = file.text.slice(start, place.end);
      const line = file.text.slice(0, start).split('\n').length;
      mutations.push({ path, line, kind, text, start, end: place.end, replacement });
    }
    node.forEachChild((part) => {
      // A key such as the 1 of `{ 1: 'one' }` can be no expression.
      const isKey = part === node.name || part === node.propertyName;
      if (!isKey || !isNumericLiteral(part)) visit(part);
    });
  };
  visit(file);
  return mutations;
}

/** Kind, the node that goes, and what stands in its place. */
function mistakesAt(node, textOf) {
  if (isIfStatement(node) || isWhileStatement(node)) return [negated(node.expression, textOf)];
  if (isConditionalExpression(node)) return [negated(node.condition, textOf)];
  if (isBinaryExpression(node)) return operatorMistakes(node.operatorToken);
  if (isExpressionStatement(node) || isThrowStatement(node)) {
    return NEEDLESS_STATEMENT.test(textOf(node)) ? [] : [['statement left out', node, ';']];
  }
  if (isAwaitExpression(node)) {
    return [['await dropped', node, `(${textOf(node.expression)})`]];
  }
  if (isNumericLiteral(node)) return [['constant changed', node, `(${textOf(node)} + 1)`]];
  if (node.kind === SyntaxKind.TrueKeyword) return [['constant changed', node, 'false']];
  if (node.kind === SyntaxKind.FalseKeyword) return [['constant changed', node, 'true']];
  return [];
}

function negated(condition, textOf) {
  return ['condition negated', condition, `!(${textOf(condition)})`];
}

function operatorMistakes(operator) {
  const bound = BOUNDS.get(operator.kind);
  if (bound !== undefined) return [['bound moved', operator, bound]];
  const junction = JUNCTIONS.get(operator.kind);
  return junction === undefined ? [] : [['condition changed', operator, junction]];
}
