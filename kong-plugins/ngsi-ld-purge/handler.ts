import { callerHeaders, callerOf } from './caller.js';
import { parseConfig, type ParsedConfig, type PluginConfig } from './config-schema.js';
import { decide, isPlainConnection, type Decision } from './decide.js';
import { isCollection } from './path.js';
import type { Pdk } from './pdk.js';
import { instanceOf, problem, type Problem } from './problem.js';

const TOKEN_HEADER = 'X-Gateway-Token';
const POLICY_HEADER = 'X-Purge-Policy';
/** Headers with which this plugin vouches for a request. */
const STAMP = [TOKEN_HEADER, POLICY_HEADER] as const;
/** Kong's own default; a DELETE has little or no body to write. */
const WRITE_TIMEOUT_MS = 60_000;

/** A request that goes to the sidecar with our token. */
type Vouched = Extract<Decision, { readonly kind: 'purge' | 'api' }>;

/**
 * The plugin, which Kong's JavaScript plugin server instantiates once per worker and configuration.
 *
 * Kong continues a request if a handler throws, so `access` never throws: it refuses whatever it does not understand. Besides
 * the event itself, a request that passes takes three round trips to Kong, and a purge ten to twelve.
 */
export class Plugin {
  readonly #parsed: ParsedConfig;
  #reported = false;

  /** @param config as passed by Kong, with members of Kong's own. A wrong one is reported and refused later, not thrown. */
  constructor(config: unknown) {
    this.#parsed = parseConfig(config);
  }

  /** Kong's access phase. Always resolves, and makes no further call after a refusal. */
  async access(kong: Pdk): Promise<void> {
    let refusal: Problem | undefined;
    let path: string | undefined;
    try {
      const method = text(await kong.request.getMethod(), 'method');
      path = text(await kong.request.getRawPath(), 'path');
      refusal = await apply(await this.#decide(method, path, kong), kong);
    } catch (error) {
      refusal = problem('unavailable');
      await report(`refused a request it could not prepare: ${messageOf(error)}`, kong);
    }
    if (refusal === undefined) return;
    if (!this.#parsed.ok && !this.#reported) {
      this.#reported = true;
      await report(`is misconfigured: ${this.#parsed.mistakes.join('; ')}`, kong);
    }
    return refuse(path === undefined ? refusal : { ...refusal, instance: instanceOf(path) }, kong);
  }

  async #decide(method: string, rawPath: string, kong: Pdk): Promise<Decision> {
    // An exactly spelled collection is already in normal form, which saves one round trip for purges.
    const path = isCollection(rawPath) ? rawPath : text(await kong.request.getPath(), 'normalised path');
    return decide({ method, rawPath, path }, this.#parsed);
  }
}

/** Carries out a decision. Returns the problem with which to refuse the request, if any. */
async function apply(decision: Decision, kong: Pdk): Promise<Problem | undefined> {
  switch (decision.kind) {
    case 'pass':
      return undefined;
    case 'refuse':
      return decision.problem;
    case 'purge':
    case 'api':
      return vouch(decision, kong);
    case 'judge':
      if (!(await hasPlainConnection(kong))) return problem('connectionHeader');
      await toSidecar(decision.config, STAMP, kong);
      return undefined;
  }
}

/**
 * Sends a request to the sidecar with our token, its policy and its caller.
 *
 * The order matters. The target is set first and the token last: if the plugin server dies half-way, Kong forwards the request
 * in its current state, and it must neither reach a broker with our token, nor reach a sidecar as a checked request. Also,
 * every header is removed before any is set. A header that is replaced stays where the client put it, but one that is added
 * comes after all others. If a request loses its last headers on the way, it must lose the token before the policy.
 */
async function vouch({ kind, config, policy }: Vouched, kong: Pdk): Promise<Problem | undefined> {
  const { client, service } = kong;
  if (!(await hasPlainConnection(kong))) return problem('connectionHeader');
  const caller = callerOf(await client.getConsumer(), await client.getCredential());

  await toSidecar(config, [...STAMP, ...callerHeaders], kong);
  if (kind === 'purge')
    await service.setTimeouts(config.connect_timeout_ms, WRITE_TIMEOUT_MS, config.read_timeout_ms);
  const vouchedFor = { ...(policy === '' ? {} : { [POLICY_HEADER]: policy }), ...caller };
  if (Object.keys(vouchedFor).length > 0) await service.request.setHeaders(vouchedFor);
  if (config.gateway_token !== undefined) await service.request.setHeader(TOKEN_HEADER, config.gateway_token);
  return undefined;
}

async function hasPlainConnection({ request }: Pdk): Promise<boolean> {
  return isPlainConnection(optionalText(await request.getHeader('Connection'), 'Connection header'));
}

/** Sends a request to the sidecar, without the named headers. */
async function toSidecar(config: PluginConfig, removed: readonly string[], kong: Pdk): Promise<void> {
  const { request, service } = kong;
  // setTarget replaces the Host header. The sidecar builds links from it, and compares it with the origin of a web page.
  const host = optionalText(await request.getHeader('Host'), 'Host header');
  await service.setTarget(config.sidecar_host, config.sidecar_port);
  // Kong treats DELETE as idempotent, and would send it up to six times.
  await service.setRetries(0);
  await service.request.setHeaders({
    ...Object.fromEntries(removed.map((name) => [name, []])),
    ...(host === undefined ? {} : { Host: host }),
  });
}

async function refuse(refusal: Problem, kong: Pdk): Promise<void> {
  try {
    await kong.response.exit(refusal.status, JSON.stringify(refusal), {
      'Content-Type': 'application/problem+json',
    });
  } catch (error) {
    // The connection to Kong is lost, and the request with it; rejecting would achieve nothing.
    process.stderr.write(`ngsi-ld-purge could not answer: ${messageOf(error)}\n`);
  }
}

async function report(message: string, kong: Pdk): Promise<void> {
  try {
    await kong.log.err(`ngsi-ld-purge ${message}`);
  } catch {
    // Refusing matters more than logging.
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function text(answer: unknown, what: string): string {
  if (typeof answer !== 'string') throw new TypeError(`Kong gave no ${what}`);
  return answer;
}

function optionalText(answer: unknown, what: string): string | undefined {
  return answer === undefined || answer === null ? undefined : text(answer, what);
}
