import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { BaseUrlOf } from './api/admission.js';
import { apiUrl } from './api/routes.js';
import type { ConsoleSignIn } from './api/status.js';
import { prefers } from './weights.js';

export interface ConsoleRoutesOptions {
  /** The folder of the built console; undefined where it is switched off or was not built. */
  readonly consoleFolder: string | undefined;
  readonly baseUrlOf: BaseUrlOf;
  /** Where the console signs people in; undefined where nobody signs in. */
  readonly consoleSignIn?: ConsoleSignIn | undefined;
}

/** Where the console is served. */
export const CONSOLE_PATH = '/console/';

/** Nothing but files of the console itself runs, styles or is shown in it, and no other page frames it. */
const PAGE_POLICY =
  "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'none'";

const PAGE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

/** The console gets its tokens from the provider, too. */
function policyFor(issuer: string): string {
  return `${PAGE_POLICY}; connect-src 'self' ${new URL(issuer).origin}`;
}

/** Names of files in this folder have a hash of their content. */
const HASHED = 'assets';

/** Paths, without percent-encoding, that name no file of the folder: the file server would throw. */
const LEAVES_FOLDER = /\0|(?:^|[/\\])\.\.(?:[/\\]|$)/;

const A_YEAR = 'public, max-age=31536000, immutable';

/**
 * The folder of the built console, looked for from where this program runs: the built sidecar, the bundled command line,
 * or sources compiled elsewhere. Undefined where the console was not built.
 *
 * @param from `import.meta.dirname` of the entry
 */
export function findConsole(from: string): string | undefined {
  return ['console', '../console', '../dist/console', '../../dist/console']
    .map((path) => join(from, path))
    .find((folder) => existsSync(join(folder, HASHED)) && existsSync(join(folder, 'index.html')));
}

/**
 * `GET /` leads browsers to the console, and shows other clients what is here. `GET /console/*` serves the files of the
 * console; they need no token, the API that they call does.
 */
export function registerConsoleRoutes(app: FastifyInstance, options: ConsoleRoutesOptions): void {
  const { consoleFolder, baseUrlOf, consoleSignIn } = options;
  app.get('/', async (request, reply) => {
    reply.header('vary', 'Accept').header('cache-control', 'no-cache');
    // Relative, so that it holds behind a gateway that adds a path.
    // Browsers name HTML when they open a page; other clients name JSON, anything, or nothing.
    const wantsPage = prefers(request.headers.accept, 'text/html', 'application/json');
    if (consoleFolder !== undefined && wantsPage)
      return reply.code(302).header('location', CONSOLE_PATH.slice(1)).send();
    const base = baseUrlOf(request.raw);
    return reply.send({
      name: 'NGSI-LD gateway',
      links: {
        ...(consoleFolder === undefined ? {} : { console: `${base}${CONSOLE_PATH}` }),
        ngsiLd: `${base}/ngsi-ld/v1`,
        purges: apiUrl(base, 'purges'),
        openapi: apiUrl(base, 'openapi.json'),
        health: `${base}/health/ready`,
      },
    });
  });
  if (consoleFolder === undefined) return;
  app.get(CONSOLE_PATH.slice(0, -1), async (_request, reply) =>
    reply.code(302).header('location', CONSOLE_PATH.slice(1)).send(),
  );
  const policy = consoleSignIn === undefined ? PAGE_POLICY : policyFor(consoleSignIn.issuer);
  void app.register(fastifyStatic, {
    root: consoleFolder,
    prefix: CONSOLE_PATH,
    decorateReply: false,
    cacheControl: false,
    // Packed by the build.
    preCompressed: true,
    dotfiles: 'ignore',
    allowedPath: (path) => !LEAVES_FOLDER.test(path),
    setHeaders: (reply, path) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) reply.setHeader(name, value);
      reply.setHeader('content-security-policy', policy);
      reply.setHeader('vary', 'Accept-Encoding');
      reply.setHeader('cache-control', isHashed(relative(consoleFolder, path)) ? A_YEAR : 'no-cache');
    },
  });
}

/** @param path relative to the folder of the console */
function isHashed(path: string): boolean {
  return path.startsWith(`${HASHED}${sep}`);
}
