import ts from 'typescript';

/** A small harmful change to a source text. */
export interface Mutant {
  /** Offsets in UTF-16 code units; the text between them is replaced. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** The kind of the change, e.g. "comparison". */
  readonly kind: string;
}

type Propose = (node: ts.Node, replacement: string, kind: string) => void;

const COMPARISONS: Readonly<Partial<Record<ts.SyntaxKind, string>>> = {
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
};
const ARITHMETIC: Readonly<Partial<Record<ts.SyntaxKind, string>>> = {
  [ts.SyntaxKind.PlusToken]: '-',
  [ts.SyntaxKind.MinusToken]: '+',
  [ts.SyntaxKind.AsteriskToken]: '/',
  [ts.SyntaxKind.SlashToken]: '*',
  [ts.SyntaxKind.PlusEqualsToken]: '-=',
  [ts.SyntaxKind.MinusEqualsToken]: '+=',
};
const CHOICES: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

/** Names that are easily confused, as whole words of camel or snake case. */
const TWINS: readonly (readonly [RegExp, string])[] = [
  [/^min(?=[A-Z]|$)/, 'max'],
  [/^max(?=[A-Z]|$)/, 'min'],
  [/Min(?=[A-Z]|$)/, 'Max'],
  [/Max(?=[A-Z]|$)/, 'Min'],
  [/MIN(?=_|$)/, 'MAX'],
  [/MAX(?=_|$)/, 'MIN'],
  [/^some$/, 'every'],
  [/^every$/, 'some'],
  [/^startsWith$/, 'endsWith'],
  [/^immediate$/, 'deferred'],
];

/**
 * Names of loop variables and index parameters. A list read at one of these indexes has an element
 * there.
 */
const INDEXES: ReadonlySet<string> = new Set(['index', 'slot', 'at', 'from', 'to']);

/**
 * Returns all changes to try on a TypeScript source, in the order of its text.
 *
 * Changes that no test can notice are omitted: the default that the compiler requires if a list is read at an existing
 * index, `once` of a listener for an abort, which happens only once, and a literal `description`, which is for readers.
 * @param hasElements whether the source has JSX elements
 */
export function mutantsOf(text: string, hasElements = false): readonly Mutant[] {
  const name = hasElements ? 'source.tsx' : 'source.ts';
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.ESNext, true);
  const mutants: Mutant[] = [];
  const propose: Propose = (node, replacement, kind) => {
    mutants.push({ start: node.getStart(file), end: node.getEnd(), replacement, kind });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (isUnread(node)) return;
    mutateExpression(node, propose);
    mutateLiteral(node, propose);
    mutateList(node, propose);
    mutateElement(node, propose);
    mutateStatement(node, propose);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return mutants;
}

function isUnread(node: ts.Node): boolean {
  if (ts.isSourceFile(node)) return false;
  const { parent } = node;
  if (ts.isBinaryExpression(parent) && parent.right === node) {
    const { left, operatorToken } = parent;
    return (
      operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken &&
      ts.isElementAccessExpression(left) &&
      ts.isIdentifier(left.argumentExpression) &&
      INDEXES.has(left.argumentExpression.text) &&
      ts.isLiteralExpression(node)
    );
  }
  if (!ts.isObjectLiteralExpression(node) || !ts.isCallExpression(parent)) return false;
  const [type] = parent.arguments;
  const isForAbort = type !== undefined && ts.isStringLiteral(type) && type.text === 'abort';
  return isForAbort && node.getText() === '{ once: true }';
}

/** Returns the text with the change applied. */
export function applyMutant(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

function mutateExpression(node: ts.Node, propose: Propose): void {
  if (ts.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    const comparison = COMPARISONS[operatorToken.kind];
    if (comparison !== undefined) propose(operatorToken, comparison, 'comparison');
    const arithmetic = ARITHMETIC[operatorToken.kind];
    if (arithmetic !== undefined) propose(operatorToken, arithmetic, 'arithmetic');
    if (CHOICES.has(operatorToken.kind)) {
      propose(node, `(${left.getText()})`, 'right operand dropped');
      propose(node, `(${right.getText()})`, 'left operand dropped');
    }
  }
  if (ts.isConditionalExpression(node)) {
    propose(node, `(${node.whenTrue.getText()})`, 'condition taken as true');
    propose(node, `(${node.whenFalse.getText()})`, 'condition taken as false');
  }
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) {
    propose(node.expression, 'false', 'condition taken as false');
    if (ts.isIfStatement(node)) propose(node.expression, 'true', 'condition taken as true');
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    propose(node, `(${node.operand.getText()})`, 'negation dropped');
  if (ts.isPropertyAccessExpression(node)) {
    const twin = twinOf(node.name.text);
    if (twin !== undefined) propose(node.name, twin, 'twin');
  }
  if (ts.isParameter(node) && node.initializer !== undefined)
    propose(node.initializer, 'undefined', 'default dropped');
}

function twinOf(name: string): string | undefined {
  for (const [word, twin] of TWINS) if (word.test(name)) return name.replace(word, twin);
  return undefined;
}

function mutateLiteral(node: ts.Node, propose: Propose): void {
  if (ts.isNumericLiteral(node)) {
    const value = Number(node.text.replaceAll('_', ''));
    propose(node, String(value + 1), 'number');
    if (value >= 10) propose(node, String(value * 1000), 'number');
  }
  if (ts.isStringLiteral(node)) {
    const twin = twinOf(node.text);
    if (twin !== undefined) propose(node, `'${twin}'`, 'twin');
    else if (ts.isBinaryExpression(node.parent)) propose(node, "'?'", 'text');
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword) propose(node, 'false', 'boolean');
  if (node.kind === ts.SyntaxKind.FalseKeyword) propose(node, 'true', 'boolean');
  if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
    const text = node.getText();
    if (text.startsWith('/^')) propose(node, `/${text.slice(2)}`, 'pattern without ^');
    if (/[^\\]\$\/[a-z]*$/.test(text))
      propose(node, text.replace(/\$(\/[a-z]*)$/, '$1'), 'pattern without $');
  }
}

/** Removes one of several elements, members or arguments. */
function mutateList(node: ts.Node, propose: Propose): void {
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 1) {
    for (const dropped of node.elements) {
      const others = node.elements.filter((element) => element !== dropped);
      propose(node, `[${others.map((element) => element.getText()).join(', ')}]`, 'element dropped');
    }
  }
  if (ts.isObjectLiteralExpression(node)) {
    for (const dropped of node.properties) {
      if (isDescription(dropped)) continue;
      const others = node.properties.filter((member) => member !== dropped);
      propose(node, `{ ${others.map((member) => member.getText()).join(', ')} }`, 'member dropped');
    }
  }
}

/** Removes computed attributes of an element, except those for its look and its key in a list. */
function mutateElement(node: ts.Node, propose: Propose): void {
  if (!ts.isJsxAttribute(node) || node.initializer === undefined) return;
  const isSeen = !/^(?:key|class|style|aria-.*)$/.test(node.name.getText());
  if (isSeen && ts.isJsxExpression(node.initializer)) propose(node, '', 'attribute dropped');
}

function isDescription(member: ts.ObjectLiteralElementLike): boolean {
  return (
    ts.isPropertyAssignment(member) &&
    member.name.getText() === 'description' &&
    ts.isStringLiteralLike(member.initializer)
  );
}

function mutateStatement(node: ts.Node, propose: Propose): void {
  const isDroppable =
    ts.isExpressionStatement(node) ||
    ts.isThrowStatement(node) ||
    ts.isBreakStatement(node) ||
    ts.isContinueStatement(node) ||
    (ts.isReturnStatement(node) && isEarly(node));
  if (isDroppable) propose(node, ';', `${statementName(node)} dropped`);
}

/**
 * Whether a return ends its function early. A return without a value at the end of a function
 * changes nothing.
 */
function isEarly(node: ts.ReturnStatement): boolean {
  const parent = ts.isBlock(node.parent) ? node.parent.parent : node.parent;
  if (ts.isCatchClause(parent) && isUndefined(node.expression)) return !isLast(parent.parent);
  return ts.isIfStatement(parent) || ts.isIterationStatement(parent, false) || ts.isCatchClause(parent);
}

function isUndefined(node: ts.Expression | undefined): boolean {
  return node === undefined || (ts.isIdentifier(node) && node.text === 'undefined');
}

/** Whether a statement is the last one of its function. */
function isLast(node: ts.Statement): boolean {
  const { parent } = node;
  return ts.isBlock(parent) && ts.isFunctionLike(parent.parent) && parent.statements.at(-1) === node;
}

function statementName(node: ts.Statement): string {
  if (ts.isThrowStatement(node)) return 'throw';
  if (ts.isReturnStatement(node)) return 'return';
  return ts.isExpressionStatement(node) ? 'statement' : 'jump';
}
