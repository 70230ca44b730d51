import type { IncomingMessage, ServerResponse } from 'node:http';
import { contextLink } from '../ngsi-ld/context-link.js';
import { isOverridden } from '../ngsi-ld/request-path.js';
import { classifyWrite, type WriteRoute } from '../ngsi-ld/write-route.js';
import { writeOptions } from '../ngsi-ld/write-options.js';
import { type BatchError, type CandidatePolicy, mergedResult, tenantsOf } from '../write-checks/index.js';
import type {
  EntityPlace,
  KnownPolicies,
  RefusedEntity,
  WriteBody,
  WriteChecks,
  WriteOutcome,
} from '../write-checks/index.js';
import type { BaseUrlOf } from './api/admission.js';
import { ClientDisconnect } from './client-disconnect.js';
import { BodyRoom, collectBody } from './collected-body.js';
import { answerProblem, FAILURE_PROBLEMS, type ProblemDraft } from './forward-problem.js';
import { RequestRefusedError } from './errors.js';
import { callerOf } from './access.js';
import { forwardedHeaders } from './new-purge.js';
import type { ForwardedParts } from './forwarded-parts.js';
import type { ForwardingManner, PassThrough } from './pass-through.js';
import { problem } from './problem-kinds.js';
import type { Voucher } from './request-checks.js';

export interface WriteGateOptions {
  readonly passThrough: PassThrough;
  readonly checks: WriteChecks;
  readonly baseUrlOf: BaseUrlOf;
  /** Whether a request has the gateway token, so that the gateway in front vouches for its caller. */
  readonly isVouchedFor: Voucher;
  /** Largest body that is judged, in bytes. */
  readonly bodyLimit: number;
  /** Told of each write that is refused. Must not throw. */
  readonly onRefused?: (req: IncomingMessage, draft: ProblemDraft) => void;
}

/** Header of the answer to a write that was looked at. */
const VERDICT = 'Write-Check';

/** Memory for the bodies of writes that are looked at, in bytes. */
const ROOM = 128 * 1024 * 1024;

/** Faults that an answer lists. */
const MAX_FAULTS = 1000;

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const OVERRIDDEN = problem(
  'invalidRequest',
  'The request asks to be treated as another than its request line says ' +
    '(X-HTTP-Method-Override, X-Original-URL, _method or the like). Where writes are enforced, ' +
    'that would be a way past the check: send the method and the path that are meant.',
);

const UNCLEAR = problem(
  'invalidRequest',
  'The path of this request could be read as a write of entities, but is not spelled ' +
    'as one. Where writes are enforced, send it exactly as the standard has it, such ' +
    'as PATCH /ngsi-ld/v1/entities/{id}/attrs, with identifiers percent-encoded.',
);

/**
 * Stands before pass-through, and looks at writes as the policies want it. All other requests go on as they came, and so do
 * writes where nothing is checked.
 */
export function createWriteGate(options: WriteGateOptions): PassThrough {
  const { passThrough, checks, baseUrlOf, isVouchedFor, bodyLimit, onRefused } = options;
  const room = new BodyRoom(ROOM);

  return (req, res, how = {}) => {
    const { method = '', url = '' } = req;
    if ((checks.mayRefuse || !checks.isCurrent) && isOverridden(method, url, req.rawHeaders))
      void Promise.resolve(checks.policies()).then(() => {
        if (res.closed) return;
        if (checks.mayRefuse) refuse(req, res, OVERRIDDEN, how.awaitsContinue);
        else goOn(req, res, how);
      });
    else goOn(req, res, how);
  };

  function goOn(req: IncomingMessage, res: ServerResponse, how: ForwardingManner): void {
    const { method = '', url = '' } = req;
    const write = SAFE.has(method) ? undefined : classifyWrite(method, url);
    if (write === undefined) {
      passThrough(req, res, how);
      return;
    }
    checks.noteSeen();
    const known = checks.policies();
    if (known instanceof Promise)
      void known.then((one) => {
        if (!res.closed) take(req, res, how.awaitsContinue === true, write, one);
      });
    else take(req, res, how.awaitsContinue === true, write, known);
  }

  function take(
    req: IncomingMessage,
    res: ServerResponse,
    awaitsContinue: boolean,
    write: WriteRoute | 'unclear',
    known: KnownPolicies | undefined,
  ): void {
    const candidates = candidatesFor(req, known);
    const isDelete = write !== 'unclear' && (write.kind === 'delete' || write.kind === 'batch-delete');
    if (candidates === undefined || isDelete) {
      if (known !== undefined && known.policies.length > 0)
        noteChange(res, write === 'unclear' || write.id === undefined ? undefined : [write.id]);
      passThrough(req, res, { awaitsContinue });
      return;
    }
    if (known === undefined) {
      const outcome = checks.failed(candidates, new Error('The policies could not be read since the start.'));
      if (outcome.action === 'fail-closed') refuse(req, res, failed(outcome), awaitsContinue);
      else passThrough(req, res, { awaitsContinue, answerFields: [VERDICT, 'not-judged'] });
      return;
    }
    if (write === 'unclear') {
      const isEnforced = candidates.some(({ mode }) => mode === 'enforce');
      noteChange(res, undefined);
      const decision = checks.unjudged(candidates, 'its path is not spelled as that of a write');
      if (isEnforced) refuse(req, res, UNCLEAR, awaitsContinue);
      else passThrough(req, res, { awaitsContinue, answerFields: [VERDICT, decision.verdict] });
      return;
    }
    look(req, res, awaitsContinue, write, candidates, known.stamp).catch((error: unknown) => {
      if (error instanceof RequestRefusedError && !res.headersSent)
        refuse(req, res, problem(error.kind, error.message), true);
      else req.socket.destroy();
    });
  }

  /** The policies that may decide about a request. */
  function candidatesFor(
    req: IncomingMessage,
    known: KnownPolicies | undefined,
  ): readonly CandidatePolicy[] | undefined {
    const caller = callerOf(req.headers, isVouchedFor(req));
    return checks.candidates(known, { tenants: tenantsOf(req.headers), caller });
  }

  async function look(
    req: IncomingMessage,
    res: ServerResponse,
    awaitsContinue: boolean,
    route: WriteRoute,
    candidates: readonly CandidatePolicy[],
    stamp: string,
  ): Promise<void> {
    const facts = bodyFacts(req);
    if ('doubt' in facts) {
      settleUnjudged(req, res, { awaitsContinue }, candidates, facts.doubt);
      return;
    }
    if (route.kind === 'delete-attribute') {
      const write = writeOf(req, res, route, candidates, stamp);
      act(req, res, { awaitsContinue }, route, await checks.check(write, { ...facts, bytes: '' }));
      return;
    }
    const isLarge = Number(req.headers['content-length'] ?? 0) > bodyLimit;
    if (awaitsContinue && !isLarge) res.writeContinue();
    const body = await collectBody(req, res, bodyLimit, room);
    if (body === 'gone') return;
    if (body === 'slow') {
      answerProblem(req, res, FAILURE_PROBLEMS['slow-client'], true);
      return;
    }
    // While it waits for the broker, it is there, too.
    const give = () => room.give(body.bytes.length);
    if (res.closed) give();
    else res.on('close', give);
    try {
      if (!body.isWhole) {
        const parts = isLarge ? { awaitsContinue } : { body };
        if (body.why === 'large')
          settleUnjudged(req, res, parts, candidates, `its body is larger than ${bodyLimit} bytes`);
        else
          act(
            req,
            res,
            parts,
            route,
            checks.failed(candidates, new Error('Too many bodies are being read.')),
          );
        return;
      }
      // They may have changed while the body arrived.
      const current = checks.policies();
      const known = current instanceof Promise ? await current : current;
      const latest = known === undefined || known.stamp === stamp ? candidates : candidatesFor(req, known);
      if (latest === undefined) {
        noteChange(res, undefined);
        passThrough(req, res, { body });
        return;
      }
      const write = writeOf(req, res, route, latest, known?.stamp ?? stamp);
      const outcome = await checks.check(write, { ...facts, bytes: body.bytes.toString('latin1') });
      if (!res.closed) act(req, res, { body }, route, outcome);
    } catch (error) {
      // The client has left.
      if (!res.closed) throw error;
    }
  }

  function writeOf(
    req: IncomingMessage,
    res: ServerResponse,
    route: WriteRoute,
    candidates: readonly CandidatePolicy[],
    stamp: string,
  ) {
    // Few writes depend on what is stored.
    const placeOfEntities = () => placeOf(req, route.kind.startsWith('temporal-'));
    return {
      route,
      placeOfEntities,
      candidates,
      stamp,
      baseUrl: baseUrlOf(req),
      signal: new ClientDisconnect(res),
    };
  }

  /** Nobody can judge it, as is known beforehand. */
  function settleUnjudged(
    req: IncomingMessage,
    res: ServerResponse,
    parts: ForwardedParts & { readonly awaitsContinue?: boolean },
    candidates: readonly CandidatePolicy[],
    reason: string,
  ): void {
    const decision = checks.unjudged(candidates, reason);
    noteChange(res, undefined);
    if (decision.action === 'pass')
      passThrough(req, res, { ...parts, answerFields: [VERDICT, decision.verdict] });
    else refuse(req, res, refusal(decision.refused, false), parts.awaitsContinue);
  }

  /** Does what was decided. */
  function act(
    req: IncomingMessage,
    res: ServerResponse,
    parts: ForwardedParts & { readonly awaitsContinue?: boolean },
    route: WriteRoute,
    outcome: WriteOutcome,
  ): void {
    switch (outcome.action) {
      case 'fail-closed':
        refuse(req, res, failed(outcome), parts.awaitsContinue);
        return;
      case 'fail-open':
        noteChange(res, undefined);
        passThrough(req, res, { ...parts, answerFields: [VERDICT, 'not-judged'] });
        return;
      case 'refuse':
        refuse(req, res, refusal(outcome.refused, route.kind.startsWith('batch-')), parts.awaitsContinue);
        return;
      case 'pass':
      case 'thin': {
        if (outcome.isMissing) {
          refuse(
            req,
            res,
            problem('notFound', `The broker has no entity ${route.id ?? ''}.`),
            parts.awaitsContinue,
          );
          return;
        }
        if (outcome.ids === undefined || outcome.ids.length > 0) noteChange(res, outcome.ids);
        const { thinned } = outcome;
        const answerFields = [VERDICT, outcome.verdict];
        if (thinned === undefined) passThrough(req, res, { ...parts, answerFields });
        else {
          const errors = batchErrors(outcome.refused);
          passThrough(req, res, {
            answerFields,
            instead: {
              body: Buffer.from(thinned.body),
              answer: (status, body) => {
                const result = mergedResult(status, body, thinned.ids, errors, UNREADABLE);
                return result && { status: 207, body: JSON.stringify(result) };
              },
            },
          });
        }
      }
    }
  }

  /** The types of entities may change until the answer has been sent. */
  function noteChange(res: ServerResponse, ids: readonly string[] | undefined): void {
    const end = checks.types.changing(ids);
    res.on('close', end);
    if (res.closed) end();
  }

  function refuse(
    req: IncomingMessage,
    res: ServerResponse,
    draft: ProblemDraft,
    awaitsContinue: boolean | undefined,
  ): void {
    onRefused?.(req, draft);
    answerProblem(req, res, draft, awaitsContinue === true);
  }
}

/** Headers that only say how the body is to be read. */
function placeOf(req: IncomingMessage, isTemporal: boolean): EntityPlace {
  const { link: _link, ...headers } = forwardedHeaders(req.headers);
  const names = ['ngsild-tenant', 'fiware-service', 'fiware-servicepath'];
  const key = `${isTemporal ? 't' : 'e'} ${names.map((name) => JSON.stringify(headers[name] ?? '')).join(' ')}`;
  return { key, isTemporal, headers };
}

/** What head and query say of the body, or why nobody can say how a broker reads it. */
function bodyFacts({
  headers,
  rawHeaders,
  url = '',
}: IncomingMessage): Omit<WriteBody, 'bytes'> | { readonly doubt: string } {
  const coding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (coding !== 'identity' && coding !== '')
    return { doubt: `its body has the content coding ${coding.slice(0, 40)}` };
  let types = 0;
  const links: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (name === 'content-type') types += 1;
    else if (name === 'link') links.push(rawHeaders[at + 1] ?? '');
  }
  if (types > 1) return { doubt: 'it has more than one Content-Type' };
  const [essence = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.find((one) => one.trim().startsWith('charset='));
  if (charset !== undefined && !/^\s*charset="?utf-8"?\s*$/.test(charset))
    return { doubt: 'its body is not said to be UTF-8' };
  const link = contextLink(links);
  const { datasetId, ...options } = writeOptions(url);
  return {
    ...options,
    isJsonLd: essence.trim() === 'application/ld+json' || essence.trim() === 'application/merge-patch+json',
    ...(datasetId === undefined ? {} : { datasetId }),
    ...(link === 'unclear' ? { linkDoubt: 'its header Link does not name exactly one @context' } : {}),
    ...(typeof link === 'object' ? { link: link.url } : {}),
  };
}

/** @param isThinned the other entities of the batch were sent */
function refusal(refused: readonly RefusedEntity[], isBatch: boolean, isThinned = false): ProblemDraft {
  const isInvalid = refused.some(({ verdict }) => verdict === 'invalid');
  const errors = refused.flatMap(({ faults }) => faults).slice(0, MAX_FAULTS);
  const policies = [...new Set(refused.map(({ policy }) => policy))];
  const by = policies.every((name) => name === '')
    ? 'the setting WRITE_CHECK'
    : `the write policy ${policies.filter((name) => name !== '').join(', ')}`;
  const [first] = errors;
  const about = isBatch && refused.length > 1 ? `${refused.length} entities are` : 'The entity is';
  const what = isInvalid ? `${about} not valid` : `${about} not judged`;
  const place = first === undefined || first.pointer === '' ? 'it' : first.pointer;
  const detail =
    `${what}, and ${by} lets nothing of it pass${first === undefined ? '' : `: ${place} ${first.detail}`}. ` +
    `${isThinned ? 'It was not sent' : 'Nothing was sent'} to the broker.`;
  const [policy = ''] = policies;
  const members = { errors, ...(policy === '' ? {} : { policy }) };
  return problem(isInvalid ? 'writeInvalid' : 'writeNotJudged', detail, members);
}

function failed({ policy }: { readonly policy: string }): ProblemDraft {
  const by = policy === '' ? 'the setting WRITE_CHECK' : `the write policy ${policy}`;
  return problem(
    'writeCheckFailed',
    `The write could not be judged now, and ${by} lets nothing pass then. Nothing was sent to the broker; try again later.`,
  );
}

const UNREADABLE = problem(
  'brokerReplyUnusable',
  'The broker did not say what became of this entity: its answer to the batch cannot be read.',
);

function batchErrors(refused: readonly RefusedEntity[]): readonly BatchError[] {
  return refused.map((one) => ({ entityId: one.id ?? '', error: refusal([one], true, true) }));
}
