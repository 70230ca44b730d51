/** Sends one request to the broker, interprets its answer, and keeps what was learnt about the broker. */
export { BrokerCapabilities, FACT_TTL_MS, type ProbedParameter, type Projection } from './capabilities.js';
export {
  type BrokerClient,
  type BrokerReply,
  type BrokerRequest,
  type BrokerRequestEnd,
  createBrokerClient,
  BROKER_CONNECTIONS,
} from './client.js';
export {
  BrokerTimeoutError,
  BrokerUnreachableError,
  ReplyTooLargeError,
  RequestAbortedError,
} from './errors.js';
export { type FactsByCollection, describeFacts } from './fact-descriptions.js';
export {
  type BrokerProblem,
  type DeleteResult,
  type FailedItem,
  failedItems,
  type Failure,
  failureIn,
  failureOf,
  isAboutPageSize,
  isUnknownTenant,
  parseBrokerProblem,
  parseJsonObject,
  readBatchReply,
  problemText,
} from './reply.js';
export { parseRetryAfter } from './retry-after.js';
