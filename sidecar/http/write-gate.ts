import type { IncomingMessage, ServerResponse } from 'node:http';
import { contextLink } from '../ngsi-ld/context-link.js';
import { isOverridden } from '../ngsi-ld/request-path.js';
import { classifyWrite, writeOptions, type WriteRoute } from '../ngsi-ld/write-route.js';
import { bodyMemoryBytes } from '../shared/memory.js';
import { type BatchError, type CandidatePolicy, mergeBatchResult, tenantsOf } from '../write-checks/index.js';
import type {
  EntityLookup,
  WriteVerdict,
  CachedPolicies,
  RefusedEntity,
  WriteBody,
  WriteChecks,
  WriteOutcome,
} from '../write-checks/index.js';
import { ClientDisconnect } from './client-disconnect.js';
import { BodyMemory, collectBody } from './collected-body.js';
import { answerProblem, FAILURE_PROBLEMS, type ProblemDraft } from './forward-problem.js';
import type { Access } from './access.js';
import { forwardedHeaders } from './new-purge.js';
import type { ForwardOverrides } from './forward-overrides.js';
import type { ForwardOptions, PassThrough } from './pass-through.js';
import { problem, RequestRefusedError } from './refused.js';
import { SAFE_METHODS } from './request-checks.js';

/** The checks of writes, the pass-through behind them, and the largest body that is judged. */
export interface WriteGateOptions {
  readonly passThrough: PassThrough;
  readonly checks: WriteChecks;
  readonly access: Pick<Access, 'vouchedName'>;
  /** Maximum size of a body that is judged, in bytes. */
  readonly bodyLimit: number;
  /** Called for each refused write. Must not throw. */
  readonly onRefused?: (req: IncomingMessage, draft: ProblemDraft) => void;
}

/** Header of the answer to a write that was checked. */
const VERDICT_HEADER = 'Write-Check';

const MAX_FAULTS = 1000;

const OVERRIDDEN = problem(
  'invalidRequest',
  'The request asks to be treated as another than its request line says ' +
    '(X-HTTP-Method-Override, X-Original-URL, _method or the like). Where writes are enforced, ' +
    'that would be a way past the check: send the method and the path that are meant.',
);

const UNCLEAR = problem(
  'invalidRequest',
  'A broker may take this request for a write of entities, but its path is not that of such ' +
    'a write in the standard. Where writes are enforced, send it exactly as the standard has it, such ' +
    'as PATCH /ngsi-ld/v1/entities/{id}/attrs, with identifiers percent-encoded.',
);

/**
 * Creates a gate before pass-through that checks writes as the policies require. All other requests are forwarded
 * unchanged, and so are writes that no policy checks.
 */
export function createWriteGate(options: WriteGateOptions): PassThrough {
  const { passThrough, checks } = options;
  const bodyMemory = new BodyMemory(bodyMemoryBytes(options.bodyLimit));

  return (req, res, how = {}) => {
    const { method = '', url = '' } = req;
    if ((checks.mayRefuse || !checks.policies.isCurrent) && isOverridden(method, url, req.rawHeaders))
      void Promise.resolve(checks.policies.current()).then(() => {
        if (res.closed) return;
        if (checks.mayRefuse) gated(req, res, 'unclear', how).refuse(OVERRIDDEN);
        else goOn(req, res, how);
      });
    else goOn(req, res, how);
  };

  function goOn(req: IncomingMessage, res: ServerResponse, how: ForwardOptions): void {
    const { method = '', url = '' } = req;
    const route = SAFE_METHODS.has(method) ? undefined : classifyWrite(method, url);
    if (route === undefined) {
      passThrough(req, res, how);
      return;
    }
    checks.countWrite();
    const write = gated(req, res, route, how);
    const known = checks.policies.current();
    if (known instanceof Promise)
      void known.then((one) => {
        if (!res.closed) write.decide(one);
      });
    else write.decide(known);
  }

  function gated(
    req: IncomingMessage,
    res: ServerResponse,
    route: WriteRoute | 'unclear',
    { awaitsContinue = false }: ForwardOptions,
  ): GatedWrite {
    return new GatedWrite({ options, bodyMemory, req, res, route, awaitsContinue });
  }
}

interface Gated {
  readonly options: WriteGateOptions;
  readonly bodyMemory: BodyMemory;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly route: WriteRoute | 'unclear';
  readonly awaitsContinue: boolean;
}

class GatedWrite {
  readonly #options: WriteGateOptions;
  readonly #bodyMemory: BodyMemory;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #route: WriteRoute | 'unclear';
  /** How the request is to be forwarded, as determined so far. */
  #overrides: ForwardOptions;

  constructor({ options, bodyMemory, req, res, route, awaitsContinue }: Gated) {
    this.#options = options;
    this.#bodyMemory = bodyMemory;
    this.#req = req;
    this.#res = res;
    this.#route = route;
    this.#overrides = { awaitsContinue };
  }

  /** Decides how to handle the write. @param known the policies; undefined if they could not be read */
  decide(known: CachedPolicies | undefined): void {
    const { checks } = this.#options;
    const route = this.#route;
    const candidates = this.#candidatesIn(known);
    const isDelete = route !== 'unclear' && (route.kind === 'delete' || route.kind === 'batch-delete');
    if (candidates === undefined || isDelete) {
      if (known !== undefined && known.policies.length > 0)
        this.#noteChange(route === 'unclear' || route.id === undefined ? undefined : [route.id]);
      this.#forward();
    } else if (known === undefined)
      this.#carryOut(
        checks.decideFailed(candidates, new Error('The policies could not be read since the start.')),
      );
    else if (route === 'unclear') {
      const isEnforced = candidates.some(({ mode }) => mode === 'enforce');
      this.#noteChange(undefined);
      const decision = checks.decideUnjudged(candidates, 'its path is not that of a write in the standard');
      if (isEnforced) this.refuse(UNCLEAR);
      else this.#forward(decision.verdict);
    } else
      this.#judge(route, candidates, known.stamp).catch((error: unknown) => {
        if (error instanceof RequestRefusedError && !this.#res.headersSent)
          this.refuse(problem(error.kind, error.message), true);
        else this.#req.socket.destroy();
      });
  }

  /** Refuses the write. @param isLast whether to answer without waiting for the rest of the body */
  refuse(draft: ProblemDraft, isLast = this.#overrides.awaitsContinue === true): void {
    this.#options.onRefused?.(this.#req, draft);
    answerProblem(this.#req, this.#res, draft, isLast);
  }

  #candidatesIn(known: CachedPolicies | undefined): readonly CandidatePolicy[] | undefined {
    const { checks, access } = this.#options;
    const { headers } = this.#req;
    return checks.candidates(known, { tenants: tenantsOf(headers), caller: access.vouchedName(headers) });
  }

  async #judge(route: WriteRoute, candidates: readonly CandidatePolicy[], stamp: string): Promise<void> {
    const { checks, bodyLimit } = this.#options;
    const [req, res, bodyMemory] = [this.#req, this.#res, this.#bodyMemory];
    const facts = bodyFacts(req);
    if ('ambiguity' in facts) {
      this.#settleUnjudged(candidates, facts.ambiguity);
      return;
    }
    if (route.kind === 'delete-attribute') {
      this.#carryOut(await checks.check(this.#writeOf(route, candidates, stamp), { ...facts, bytes: '' }));
      return;
    }
    const isLarge = Number(req.headers['content-length'] ?? 0) > bodyLimit;
    if (this.#overrides.awaitsContinue === true && !isLarge) res.writeContinue();
    const body = await collectBody(req, bodyLimit, bodyMemory);
    if (body === 'gone') return;
    if (body === 'slow') {
      answerProblem(req, res, FAILURE_PROBLEMS['slow-client'], true);
      return;
    }
    if (!isLarge) this.#overrides = { body };
    // The body also takes memory while the request waits for the broker.
    const release = () => bodyMemory.release(body.bytes.length);
    if (res.closed) release();
    else res.on('close', release);
    try {
      if (!body.isWhole) {
        if (body.why === 'large')
          this.#settleUnjudged(candidates, `its body is larger than ${bodyLimit} bytes`);
        else
          this.#carryOut(
            checks.decideFailed(candidates, new Error('Too many request bodies are being read.')),
          );
        return;
      }
      // The policies may have changed while the body was being read.
      const current = checks.policies.current();
      const known = current instanceof Promise ? await current : current;
      const latest = known === undefined || known.stamp === stamp ? candidates : this.#candidatesIn(known);
      if (latest === undefined) {
        this.#noteChange(undefined);
        this.#forward();
        return;
      }
      const write = this.#writeOf(route, latest, known?.stamp ?? stamp);
      const outcome = await checks.check(write, { ...facts, bytes: body.bytes.toString('latin1') });
      if (!res.closed) this.#carryOut(outcome);
    } catch (error) {
      // The client has disconnected.
      if (!res.closed) throw error;
    }
  }

  #writeOf(route: WriteRoute, candidates: readonly CandidatePolicy[], stamp: string) {
    return {
      route,
      candidates,
      stamp,
      // Deferred, because few writes depend on stored entities.
      entityLookup: () => entityLookupOf(this.#req, route.kind.startsWith('temporal-')),
      signal: new ClientDisconnect(this.#res),
    };
  }

  /** Handles a write that is known in advance to be impossible to judge. */
  #settleUnjudged(candidates: readonly CandidatePolicy[], reason: string): void {
    const decision = this.#options.checks.decideUnjudged(candidates, reason);
    this.#noteChange(undefined);
    if (decision.action === 'pass') this.#forward(decision.verdict);
    else this.refuse(refusal(decision.refused, false));
  }

  #carryOut(outcome: WriteOutcome): void {
    const route = this.#route === 'unclear' ? undefined : this.#route;
    switch (outcome.action) {
      case 'fail-closed':
        this.refuse(failed(outcome));
        return;
      case 'fail-open':
        this.#noteChange(undefined);
        this.#forward('not-judged');
        return;
      case 'refuse':
        this.refuse(refusal(outcome.refused, route?.kind.startsWith('batch-') === true));
        return;
      case 'pass':
      case 'thin': {
        if (outcome.isMissing) {
          this.refuse(problem('notFound', `The broker has no entity ${route?.id ?? ''}.`));
          return;
        }
        if (outcome.ids === undefined || outcome.ids.length > 0) this.#noteChange(outcome.ids);
        const { thinned } = outcome;
        this.#forward(outcome.verdict, thinned && replacementOf(thinned, outcome.refused));
      }
    }
  }

  /** Forwards the write. @param verdict undefined if the write was not checked */
  #forward(verdict?: WriteVerdict, replacement?: ForwardOverrides['replacement']): void {
    const responseFields = verdict === undefined ? [] : [VERDICT_HEADER, verdict];
    this.#options.passThrough(this.#req, this.#res, {
      ...this.#overrides,
      responseFields,
      ...(replacement === undefined ? {} : { replacement }),
    });
  }

  /** Notes that the types of entities may change until the answer has been sent. */
  #noteChange(ids: readonly string[] | undefined): void {
    const end = this.#options.checks.typeCache.beginWrite(ids);
    if (this.#res.closed) end();
    else this.#res.on('close', end);
  }
}

/** Replaces a batch by its accepted entities, and adds the refused ones to the answer. */
function replacementOf(
  { body, ids }: { readonly body: string; readonly ids: readonly string[] },
  refused: readonly RefusedEntity[],
): NonNullable<ForwardOverrides['replacement']> {
  const errors = batchErrors(refused);
  return {
    body: Buffer.from(body),
    answer: (status, text) => {
      const result = mergeBatchResult(status, text, ids, errors, UNREADABLE);
      return result && { status: 207, body: JSON.stringify(result) };
    },
  };
}

/** Headers that say which of the entities with an id is meant. */
const PLACE_HEADERS = ['ngsild-tenant', 'fiware-service', 'fiware-servicepath', 'ngsild-snapshot'];

/** Where to look up entities. The Link header is left out, because it only says how to interpret the body. */
function entityLookupOf(req: IncomingMessage, isTemporal: boolean): EntityLookup {
  const { link: _link, ...others } = forwardedHeaders(req.headers);
  const { 'ngsild-snapshot': snapshot } = req.headers;
  const headers = typeof snapshot === 'string' ? { ...others, 'ngsild-snapshot': snapshot } : others;
  const key = `${isTemporal ? 't' : 'e'} ${PLACE_HEADERS.map((name) => JSON.stringify(headers[name] ?? '')).join(' ')}`;
  return { key, isTemporal, headers };
}

/** Returns what the headers and the query say about the body, or why it is unclear how a broker would read it. */
function bodyFacts({
  headers,
  rawHeaders,
  url = '',
}: IncomingMessage): Omit<WriteBody, 'bytes'> | { readonly ambiguity: string } {
  const coding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (coding !== 'identity' && coding !== '')
    return { ambiguity: `its body has the content coding ${coding.slice(0, 40)}` };
  let types = 0;
  const links: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (name === 'content-type') types += 1;
    else if (name === 'link') links.push(rawHeaders[at + 1] ?? '');
  }
  if (types > 1) return { ambiguity: 'it has more than one Content-Type' };
  const [essence = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  // If there are several, servers differ in which one they use.
  const charsets = parameters.filter((one) => one.includes('charset'));
  if (!charsets.every((one) => /^\s*charset="?utf-8"?\s*$/.test(one)))
    return { ambiguity: 'its body is not declared as UTF-8' };
  const link = contextLink(links);
  const { datasetId, ...options } = writeOptions(url);
  return {
    ...options,
    isJsonLd: essence.trim() === 'application/ld+json' || essence.trim() === 'application/merge-patch+json',
    ...(datasetId === undefined ? {} : { datasetId }),
    ...(link === 'unclear' ? { linkAmbiguity: 'its header Link does not name exactly one @context' } : {}),
    ...(typeof link === 'object' ? { link: link.url } : {}),
  };
}

/** Creates the problem of a refused write. @param isThinned whether the other entities of the batch were sent */
function refusal(refused: readonly RefusedEntity[], isBatch: boolean, isThinned = false): ProblemDraft {
  const isInvalid = refused.some(({ verdict }) => verdict === 'invalid');
  const errors = refused.flatMap(({ faults }) => faults).slice(0, MAX_FAULTS);
  const policies = [...new Set(refused.map(({ policy }) => policy))];
  const by = policies.every((name) => name === '')
    ? 'the setting WRITE_CHECK'
    : `the write policy ${policies.filter((name) => name !== '').join(', ')}`;
  const [first] = errors;
  const [about, them] =
    isBatch && refused.length > 1 ? [`${refused.length} entities are`, 'them'] : ['The entity is', 'it'];
  const what = isInvalid ? `${about} not valid` : `${about} not judged`;
  const place = first === undefined || first.pointer === '' ? 'it' : first.pointer;
  const detail =
    `${what}, so ${by} refuses ${them}${first === undefined ? '' : `: ${place} ${first.detail.replace(/\.$/, '')}`}. ` +
    `${isThinned ? 'It was not sent' : 'Nothing was sent'} to the broker.`;
  const [policy = ''] = policies;
  const members = { errors, ...(policy === '' ? {} : { policy }) };
  return problem(isInvalid ? 'writeInvalid' : 'writeNotJudged', detail, members);
}

function failed({ policy }: { readonly policy: string }): ProblemDraft {
  const by = policy === '' ? 'the setting WRITE_CHECK' : `the write policy ${policy}`;
  return problem(
    'writeCheckFailed',
    `The write could not be judged now, so ${by} refuses it. Nothing was sent to the broker; try again later.`,
  );
}

const UNREADABLE = problem(
  'brokerReplyUnusable',
  'The broker did not say what happened to this entity: its answer to the batch cannot be read.',
);

function batchErrors(refused: readonly RefusedEntity[]): readonly BatchError[] {
  return refused.map((one) => ({ entityId: one.id ?? '', error: refusal([one], true, true) }));
}
