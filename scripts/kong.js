/** Build options for the two files for Kong: the plugin, and the launcher of Kong's plugin server, which includes kong-pdk. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** kong-pdk loads ts-node, and TypeScript with it, for plugins written in TypeScript. Ours is compiled in advance. */
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
      // Kong's plugin server loads every file in its folder, so each plugin is one bundled file, and the folder has no others.
      entryPoints: plugins.map(({ name }) => ({ in: join(folder, name, 'index.ts'), out: name })),
      outdir: join(target, 'kong-plugins'),
      outExtension: { '.js': '.cjs' },
      format: 'cjs',
    },
    {
      ...common,
      // Next to that folder, with an extension that makes it ESM wherever it is copied to.
      entryPoints: [{ in: join(folder, 'pluginserver.ts'), out: 'kong-pluginserver' }],
      outdir: target,
      outExtension: { '.js': '.mjs' },
      format: 'esm',
      plugins: [withoutTsNode],
      // Makes the file the same wherever packages are linked from.
      preserveSymlinks: true,
      // For the plugins, which kong-pdk requires by their paths.
      banner: {
        js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
      },
    },
  ];
}
