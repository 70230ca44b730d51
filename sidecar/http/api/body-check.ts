import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { refused, shown, type BodyFault } from './refusals.js';
import type { JsonSchema } from './schema-type.js';

/** Faults that an answer lists at most. */
const FAULTS_MAX = 100;

/** Checks a parsed body. @throws RequestRefusedError (422) listing what is wrong and where */
export type BodyCheck = (body: unknown) => void;

/** The schemas are constants of this room, and hold no reference: there is nothing to check them against. */
const OPTIONS = { ownProperties: true, allowUnionTypes: true, meta: false, validateSchema: false } as const;

/** A check of bodies by the schema of their route. Nothing is coerced, removed or filled in. */
export function createBodyCheck(schema: JsonSchema): BodyCheck {
  const first = new Ajv2020({ ...OPTIONS }).compile(schema);
  const every = new Ajv2020({ ...OPTIONS, allErrors: true }).compile(schema);
  return (body) => {
    // Each member too many is a fault of its own; who sends masses of them gets to know the first only.
    const isSmall = typeof body !== 'object' || body === null || Object.keys(body).length <= FAULTS_MAX;
    const check = isSmall ? every : first;
    if (check(body)) return;
    const errors = (check.errors ?? []).slice(0, FAULTS_MAX).map(faultOf);
    throw refused('bodyInvalid', `The body is not as it should be: ${summary(errors)}`, { errors });
  };
}

function summary(errors: readonly BodyFault[]): string {
  const [{ pointer, detail } = { pointer: '', detail: 'it' }, ...others] = errors;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `${pointer === '' ? 'it' : pointer} ${detail}${more}.`;
}

function faultOf({ instancePath, keyword, params, message = 'is wrong' }: ErrorObject): BodyFault {
  const given = params as Readonly<Record<string, unknown>>;
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(given['additionalProperty']);
      return { pointer: `${instancePath}/${token(name)}`, detail: 'is no member that is known here' };
    }
    case 'required':
      return { pointer: instancePath, detail: `lacks the member ${shown(String(given['missingProperty']))}` };
    case 'enum':
      return { pointer: instancePath, detail: `must be one of ${JSON.stringify(given['allowedValues'])}` };
    default:
      return { pointer: instancePath, detail: message };
  }
}

/** RFC 6901 § 3; a name that nobody could have meant is cut. */
function token(name: string): string {
  return name.slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1');
}
