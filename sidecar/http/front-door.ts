import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerProblem, type ProblemDraft } from './forward-problem.js';
import type { PassThrough } from './pass-through.js';
import {
  faultyFields,
  faultyMessage,
  isMisframed,
  longPath,
  longTarget,
  type RequestCheck,
} from './request-checks.js';
import { problem } from './refused.js';
import { classifyRequest, originForm, type RefusalReason } from '../ngsi-ld/request-path.js';

type Refusal = RefusalReason | 'fields' | 'host' | 'loop' | 'length' | 'expectation';

interface Refused {
  readonly by: 'front door';
  readonly reason: Refusal;
  readonly problem: ProblemDraft;
}

type Decision = { readonly by: 'broker' | 'gateway' } | Refused;

/** Who handles the requests that the front door lets through, and the checks that refuse others. */
export interface FrontDoorOptions {
  /** Handles requests for the broker. */
  readonly passThrough: PassThrough;
  /** Handles purges and this service's own routes: the handler that Fastify gives its `serverFactory`. */
  readonly fastify: (req: IncomingMessage, res: ServerResponse) => void;
  /** Refuses requests that a foreign web page may have sent. */
  readonly checkHost: RequestCheck;
  /** Refuses requests that have already passed this gateway. */
  readonly checkLoop: RequestCheck;
  /** Called for each request before it is answered. Must not throw. */
  readonly onRequest?: ((req: IncomingMessage, res: ServerResponse) => void) | undefined;
  /** Called for each refusal. Must not throw. */
  readonly onRefused?: (reason: Refusal, req: IncomingMessage, problem: ProblemDraft) => void;
}

/** Listeners for the events of the same names of an http.Server. */
export interface FrontDoor {
  readonly request: (req: IncomingMessage, res: ServerResponse) => void;
  readonly checkContinue: (req: IncomingMessage, res: ServerResponse) => void;
  readonly checkExpectation: (req: IncomingMessage, res: ServerResponse) => void;
}

const UNKNOWN_EXPECTATION = problem(
  'expectationFailed',
  'The only expectation that is met here is 100-continue (RFC 9110, section 10.1.1).',
);

const SPELLING =
  'Spell a purge exactly as DELETE /ngsi-ld/v1/entities?… or DELETE /ngsi-ld/v1/temporal/entities?…, and the DELETE of ' +
  'one resource with its identifier percent-encoded in one path segment, as in /ngsi-ld/v1/entities/urn:ngsi-ld:T:1.';

const DETAILS: Readonly<Record<RefusalReason, string>> = {
  'inexact-collection': `The path of this DELETE could be read as a collection, but is not spelled as one. ${SPELLING}`,
  'not-one-resource': `The path of this DELETE does not name exactly one resource. ${SPELLING}`,
  'not-one-identifier':
    'The path of this DELETE does not name exactly one resource: an identifier must be a URI, such as urn:ngsi-ld:T:1, without ' +
    'commas, at which some brokers split lists. To delete several entities, or one with a comma in its identifier, POST the ' +
    'identifiers as a JSON array to /ngsi-ld/v1/entityOperations/delete.',
  'method-override': `Overriding the method with DELETE is not supported here: send a DELETE instead. ${SPELLING}`,
  'leaves-api': 'The path has dot segments that lead out of /ngsi-ld. Send it without dot segments.',
  'malformed-target': 'The request-target is not a path that begins with a slash.',
};

/**
 * Decides, before any other code reads a request, who answers it: the broker, Fastify, or the front door itself with a
 * refusal. Works on the request line as it was on the wire, because every router decodes and normalises in its own way.
 *
 * As Fastify's `serverFactory`:
 *
 *     serverFactory: (fastify) => {
 *       const door = createFrontDoor({ passThrough, fastify, checkHost, checkLoop });
 *       const server = http.createServer({ requireHostHeader: false }, door.request);
 *       return server.on('checkContinue', door.checkContinue).on('checkExpectation', door.checkExpectation);
 *     }
 */
export function createFrontDoor(options: FrontDoorOptions): FrontDoor {
  const { passThrough, fastify, checkHost, checkLoop, onRequest, onRefused } = options;

  function admit(
    req: IncomingMessage,
    res: ServerResponse,
    awaitsContinue: boolean,
    decision = decide(req),
  ): void {
    onRequest?.(req, res);
    switch (decision.by) {
      case 'broker':
        passThrough(req, res, { awaitsContinue });
        return;
      case 'front door':
        onRefused?.(decision.reason, req, decision.problem);
        if (isMisframed(req)) res.shouldKeepAlive = false;
        answerProblem(req, res, decision.problem, awaitsContinue);
        return;
      case 'gateway':
        if (awaitsContinue) res.writeContinue();
        // Routers know the origin form only, and a server must accept the absolute form as well (RFC 9112 § 3.2.2).
        req.url = originForm(req.url ?? '');
        fastify(req, res);
    }
  }

  /** Decides who answers a request; a refusal carries its reason and its problem. */
  function decide(req: IncomingMessage): Decision {
    const { method = '', url: target = '', rawHeaders } = req;
    const fault = faultOf(req);
    if (fault !== undefined) return fault;
    const request = classifyRequest(method, target, rawHeaders);
    if (request.kind === 'pass') return { by: 'broker' };
    if (request.kind === 'refuse')
      return refused(request.reason, problem('invalidRequest', DETAILS[request.reason]));
    return refused('length', longTarget(target)) ?? { by: 'gateway' };
  }

  /** Returns the refusal of a request that is faulty whatever its path; undefined for any other request. */
  function faultOf(req: IncomingMessage): Refused | undefined {
    const { method, url: target = '' } = req;
    // A query that only the broker reads may be long; the broker limits it.
    const isQuery = method === 'GET' || method === 'HEAD';
    return (
      refused('fields', faultyFields(req.rawHeaders) ?? faultyMessage(req)) ??
      refused('host', checkHost(req)) ??
      refused('loop', checkLoop(req)) ??
      refused('length', longPath(target) ?? (isQuery ? undefined : longTarget(target)))
    );
  }

  return {
    request: (req, res) => admit(req, res, false),
    checkContinue: (req, res) => admit(req, res, true),
    // The client may wait for an interim answer that never comes.
    checkExpectation: (req, res) => admit(req, res, true, refused('expectation', UNKNOWN_EXPECTATION)),
  };
}

function refused(reason: Refusal, draft: ProblemDraft): Refused;
function refused(reason: Refusal, draft: ProblemDraft | undefined): Refused | undefined;
function refused(reason: Refusal, draft: ProblemDraft | undefined): Refused | undefined {
  return draft && { by: 'front door', reason, problem: draft };
}
