import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { BaseUrlOf } from './api/request-hooks.js';
import { apiUrl } from './api/routes.js';
import type { ConsoleSignIn } from './api/status.js';
import { prefers } from './content-negotiation.js';

export interface ConsoleRoutesOptions {
  /** The folder of the built console; undefined if the console is switched off or was not built. */
  readonly consoleFolder: string | undefined;
  readonly baseUrlOf: BaseUrlOf;
  /** How the console signs people in; undefined if sign-in is off. */
  readonly consoleSignIn?: ConsoleSignIn | undefined;
}

export const CONSOLE_PATH = '/console/';

/** The console may only load its own files, and no other page may frame it. */
const PAGE_POLICY =
  "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'none'";

const PAGE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

/** Returns the policy with sign-in: the console also requests tokens from the provider. */
function policyFor(issuer: string): string {
  return `${PAGE_POLICY}; connect-src 'self' ${new URL(issuer).origin}`;
}

/** File names in this folder contain a hash of the content. */
const HASHED = 'assets';

/** Decoded paths that leave the folder, on which the file server would throw. */
const LEAVES_FOLDER = /\0|(?:^|[/\\])\.\.(?:[/\\]|$)/;

const A_YEAR = 'public, max-age=31536000, immutable';

/**
 * Finds the folder of the built console, relative to the running program: the built sidecar, the bundled command line,
 * or sources compiled elsewhere. Returns undefined if the console was not built.
 *
 * @param from `import.meta.dirname` of the entry
 */
export function findConsole(from: string): string | undefined {
  return ['console', '../console', '../dist/console', '../../dist/console']
    .map((path) => join(from, path))
    .find((folder) => existsSync(join(folder, HASHED)) && existsSync(join(folder, 'index.html')));
}

/**
 * Registers `GET /`, which redirects browsers to the console and shows other clients the available links, and
 * `GET /console/*`, which serves the files of the console. The files need no token, but the API that they call does.
 */
export function registerConsoleRoutes(app: FastifyInstance, options: ConsoleRoutesOptions): void {
  const { consoleFolder, baseUrlOf, consoleSignIn } = options;
  app.get('/', async (request, reply) => {
    reply.header('vary', 'Accept').header('cache-control', 'no-cache');
    // The redirect is relative, so that it also works behind a gateway that adds a path. Browsers accept HTML when they
    // open a page; other clients accept JSON, anything, or do not say.
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
    // The build has compressed the files.
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

/** Whether a file name contains a hash. @param path relative to the folder of the console */
function isHashed(path: string): boolean {
  return path.startsWith(`${HASHED}${sep}`);
}
