/** How the two files for Kong are built: the plugin, and the launcher of Kong's plugin server with kong-pdk in it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** kong-pdk loads ts-node, and with it TypeScript, for plugins that are written in TypeScript. Ours is built before. */
const withoutTsNode = {
  name: 'without-ts-node',
  /** @param {import('esbuild').PluginBuild} build */
  setup(build) {
    build.onResolve({ filter: /^ts-node$/ }, () => ({ path: 'ts-node', namespace: 'left-out' }));
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: 'exports.register = () => {};',
    }));
  },
};

/**
 * @param {string} root of the project
 * @param {string} target for dist/
 * @returns {readonly import('esbuild').BuildOptions[]}
 */
export function kongBuilds(root, target) {
  const folder = join(root, 'kong-plugins');
  const plugins = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  /** @type {import('esbuild').BuildOptions} */
  const common = {
    absWorkingDir: root,
    platform: 'node',
    target: 'node22.19',
    bundle: true,
    logLevel: 'warning',
  };
  return [
    {
      ...common,
      // Kong's plugin server loads every file of its folder: one bundled file for each plugin, nothing beside it.
      entryPoints: plugins.map(({ name }) => ({ in: join(folder, name, 'index.ts'), out: name })),
      outdir: join(target, 'kong-plugins'),
      outExtension: { '.js': '.cjs' },
      format: 'cjs',
    },
    {
      ...common,
      // Beside that folder, and with a name by which it is ESM wherever it is copied to.
      entryPoints: [{ in: join(folder, 'pluginserver.ts'), out: 'kong-pluginserver' }],
      outdir: target,
      outExtension: { '.js': '.mjs' },
      format: 'esm',
      plugins: [withoutTsNode],
      // So that the file is the same wherever packages are linked from.
      preserveSymlinks: true,
      // For the plugins, which kong-pdk requires by their paths.
      banner: {
        js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
      },
    },
  ];
}
