import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { ROOT } from './project.js';

/** An import of a file. */
export interface Import {
  /** As written in the source. */
  readonly specifier: string;
  /** `import type`; with `import { type A }` the module is still loaded. */
  readonly typeOnly: boolean;
}

/** What a source file needs from outside itself. */
export interface Source {
  /** From the project root, with slashes. */
  readonly path: string;
  readonly imports: readonly Import[];
  readonly touchesEnv: boolean;
}

/**
 * Returns the project file that a relative specifier refers to, with `.ts` even if it may be
 * `.tsx`; undefined for packages.
 */
export function targetOf(path: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}

/** Returns the npm package of a specifier; undefined for relative ones and Node's own modules. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:') || builtinModules.includes(specifier))
    return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Reads all TypeScript files below a folder of the project. */
export function readSources(folder: string): readonly Source[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  return names.map((name) => {
    const path = posix.join(folder, name.replaceAll('\\', '/'));
    return parseSource(path, readFileSync(join(ROOT, path), 'utf8'));
  });
}

/** Reads the imports of a file: static, dynamic, re-exports, `require`, and import types. */
export function parseSource(path: string, text: string): Source {
  const { ESNext } = ts.ScriptTarget;
  const file = ts.createSourceFile(path, text, {
    languageVersion: ESNext,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  const imports: Import[] = [];
  let touchesEnv = false;
  const visit = (node: ts.Node): void => {
    const found = importIn(node);
    if (found !== undefined) imports.push(found);
    touchesEnv ||= isEnvAccess(node) || found?.specifier.replace('node:', '') === 'process';
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { path, imports, touchesEnv };
}

function importIn(node: ts.Node): Import | undefined {
  if (ts.isImportDeclaration(node))
    return importOf(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
  if (ts.isExportDeclaration(node)) return importOf(node.moduleSpecifier, node.isTypeOnly);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return importOf(node.argument.literal, true);
  if (ts.isExternalModuleReference(node)) return importOf(node.expression, false);
  if (ts.isCallExpression(node)) {
    const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
    if (isRequire || node.expression.kind === ts.SyntaxKind.ImportKeyword)
      return importOf(node.arguments[0], false);
  }
  return undefined;
}

function importOf(specifier: ts.Node | undefined, typeOnly: boolean): Import | undefined {
  return specifier !== undefined && ts.isStringLiteralLike(specifier)
    ? { specifier: specifier.text, typeOnly }
    : undefined;
}

/** Whether a node is `process.env`, `process['env']`, or destructures process. */
function isEnvAccess(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && node.name.text === 'env';
  if (ts.isElementAccessExpression(node)) return isProcess(node.expression);
  return ts.isVariableDeclaration(node) && isProcess(node.initializer) && !ts.isIdentifier(node.name);
}

function isProcess(node: ts.Node | undefined): boolean {
  return node !== undefined && ts.isIdentifier(node) && node.text === 'process';
}
