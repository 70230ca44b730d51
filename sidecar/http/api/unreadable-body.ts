import type { Unreadable } from '../../shared/json/strict-json.js';
import type { ProblemName } from './problem-kinds.js';

/** What a client is told of a body that cannot be read. */
export interface UnreadableBody {
  readonly name: ProblemName;
  readonly detail: string;
  readonly members: { readonly line: number; readonly column: number };
}

/** Text that is no JSON is a bad request; JSON that is too deep is understood, and refused. */
export function unreadableBody({ line, column, detail, isTooDeep }: Unreadable): UnreadableBody {
  return {
    name: isTooDeep ? 'limitExceeded' : 'invalidRequest',
    detail: `The body cannot be read as JSON: line ${line}, column ${column}: ${detail}.`,
    members: { line, column },
  };
}
