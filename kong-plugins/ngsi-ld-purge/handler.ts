import { parseConfig, type ParsedConfig, type PluginConfig } from './config-schema.js';
import { decide, isPlainConnection, isSafe, type Decision } from './decide.js';
import { purgeCollection } from './path.js';
import type { Pdk } from './pdk.js';
import { problem, type Problem } from './problem.js';

const TOKEN_HEADER = 'X-Gateway-Token';
const POLICY_HEADER = 'X-Purge-Policy';
/** Kong's own default; a DELETE has little or nothing to write. */
const WRITE_TIMEOUT_MS = 60_000;

/**
 * The plugin Kong's JavaScript plugin server instantiates, once for each worker and configuration.
 *
 * Kong lets a request go on when a handler throws, so nothing is ever thrown out of `access`: whatever is not understood
 * is answered here. Round trips to Kong, besides the event itself: safe methods 1, a purge 8.
 */
export class Plugin {
  readonly #parsed: ParsedConfig;
  #reported = false;

  /** @param config as Kong hands it over, with members of its own. A wrong one is reported and refused later, not thrown. */
  constructor(config: unknown) {
    this.#parsed = parseConfig(config);
  }

  /** Kong's access phase. Resolves always, and after a refusal makes no further call. */
  async access(kong: Pdk): Promise<void> {
    let refusal: Problem | undefined;
    try {
      refusal = await apply(await this.#decide(kong), kong);
    } catch (error) {
      refusal = problem('unavailable');
      await report(`refused a request it could not prepare: ${messageOf(error)}`, kong);
    }
    if (refusal === undefined) return;
    if (!this.#parsed.ok && !this.#reported) {
      this.#reported = true;
      await report(`is misconfigured: ${this.#parsed.mistakes.join('; ')}`, kong);
    }
    return refuse(refusal, kong);
  }

  async #decide(kong: Pdk): Promise<Decision> {
    const method = text(await kong.request.getMethod(), 'method');
    if (isSafe(method)) return { kind: 'pass' };
    const rawPath = text(await kong.request.getRawPath(), 'path');
    // An exactly spelt collection is its own normal form: one round trip less where it matters.
    const exact = purgeCollection(rawPath) !== undefined;
    const path = exact ? rawPath : text(await kong.request.getPath(), 'normalised path');
    return decide({ method, rawPath, path }, this.#parsed);
  }
}

/**
 * Carries out a decision; returns the problem to refuse the request with, if any.
 *
 * The order matters. The target comes first and the token last: should the plugin server die half-way, Kong sends the
 * request on as it stands then, and it must neither reach a broker with our token nor a sidecar as vetted.
 */
async function apply(decision: Decision, kong: Pdk): Promise<Problem | undefined> {
  switch (decision.kind) {
    case 'pass':
      return undefined;
    case 'refuse':
      return decision.problem;
    case 'purge': {
      const connection = await kong.request.getHeader('Connection');
      if (!isPlainConnection(optionalText(connection, 'Connection header')))
        return problem('connectionHeader');
      await toSidecar(decision.config, kong);
      const { connect_timeout_ms: connect, read_timeout_ms: read } = decision.config;
      await kong.service.setTimeouts(connect, WRITE_TIMEOUT_MS, read);
      await setOrClear(POLICY_HEADER, decision.policy, kong);
      await setOrClear(TOKEN_HEADER, decision.config.gateway_token, kong);
      return undefined;
    }
    case 'schema': {
      const host = optionalText(await kong.request.getHeader('Host'), 'Host header');
      await toSidecar(decision.config, kong);
      // The schema service builds links from the Host the client used; setTarget has just replaced it.
      if (host !== undefined) await kong.service.request.setHeader('Host', host);
      await setOrClear(TOKEN_HEADER, decision.config.gateway_token, kong);
      return undefined;
    }
    case 'judge':
      await toSidecar(decision.config, kong);
      await kong.service.request.clearHeader(POLICY_HEADER);
      await kong.service.request.clearHeader(TOKEN_HEADER);
      return undefined;
  }
}

async function toSidecar(config: PluginConfig, kong: Pdk): Promise<void> {
  await kong.service.setTarget(config.sidecar_host, config.sidecar_port);
  // Kong counts DELETE as idempotent and would send it up to six times.
  await kong.service.setRetries(0);
}

/** Replaces a header, or removes it: what a client sent never survives. */
async function setOrClear(name: string, value: string | undefined, kong: Pdk): Promise<void> {
  if (value === undefined || value === '') await kong.service.request.clearHeader(name);
  else await kong.service.request.setHeader(name, value);
}

async function refuse(refusal: Problem, kong: Pdk): Promise<void> {
  try {
    await kong.response.exit(refusal.status, JSON.stringify(refusal), {
      'Content-Type': 'application/problem+json',
    });
  } catch (error) {
    // The connection to Kong is gone, and with it the request; rejecting would gain nothing.
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
