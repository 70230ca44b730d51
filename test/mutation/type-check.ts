import { dirname, join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../support/project.js';

/** Returns whether the compiler accepts another text in place of a source. */
export type TypeCheck = (path: string, text: string) => boolean;

/**
 * Creates a type check of the current project; its first use is slow. Only the changed file is
 * checked.
 */
export function createTypeCheck(): TypeCheck {
  const checks = new Map<string, TypeCheck>();
  return (path, text) => {
    // Browser code has its own types.
    const config = path.startsWith('console/') ? 'console/tsconfig.json' : 'tsconfig.json';
    const check = checks.get(config) ?? typeCheckBy(config);
    checks.set(config, check);
    return check(path, text);
  };
}

function typeCheckBy(configPath: string): TypeCheck {
  const configFile = join(ROOT, configPath);
  const { config } = ts.readConfigFile(configFile, (path) => ts.sys.readFile(path)) as {
    readonly config: object;
  };
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    config,
    ts.sys,
    dirname(configFile),
    undefined,
    configFile,
  );
  const changed = new Map<string, { readonly text: string; readonly version: number }>();
  let version = 0;
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => fileNames,
    getScriptVersion: (name) => String(changed.get(name)?.version ?? 0),
    getScriptSnapshot(name) {
      const text = changed.get(name)?.text ?? ts.sys.readFile(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
    fileExists: (name) => ts.sys.fileExists(name),
    readFile: (name) => ts.sys.readFile(name),
    readDirectory: (...given) => ts.sys.readDirectory(...given),
    directoryExists: (name) => ts.sys.directoryExists(name),
    getDirectories: (name) => ts.sys.getDirectories(name),
  });
  return (path, text) => {
    const name = join(ROOT, path);
    changed.set(name, { text, version: (version += 1) });
    const isNoticed =
      service.getSyntacticDiagnostics(name).length + service.getSemanticDiagnostics(name).length > 0;
    changed.delete(name);
    version += 1;
    return isNoticed;
  };
}
