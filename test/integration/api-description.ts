import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer } from '../support/gateway-harness.js';

type Json = Readonly<Record<string, unknown>>;

interface Operation extends Json {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response extends Json {
  readonly headers?: Json;
  readonly content?: Readonly<Record<string, unknown>>;
}

export interface OpenApi extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly headers: Readonly<Record<string, { readonly required?: boolean }>> };
}

/**
 * What the first gateway of this process says of itself. All gateways say the same, but for their URLs, and reading and
 * compiling it for each of them would take longer than many tests.
 */
let first: Promise<readonly [OpenApi, Schemas]> | undefined;

async function read(url: string): Promise<readonly [OpenApi, Schemas]> {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  const document = (await response.json()) as OpenApi;
  return [document, new Schemas(document)];
}

/** The description that an API serves of itself; answers are checked against it. */
export class ApiDescription {
  readonly document: OpenApi;
  /** The statuses seen, as `operationId status`. */
  readonly seen = new Set<string>();
  readonly #schemas: Schemas;

  private constructor(document: OpenApi, schemas: Schemas) {
    this.document = document;
    this.#schemas = schemas;
  }

  static async read(url: string): Promise<ApiDescription> {
    return new ApiDescription(...(await (first ??= read(url))));
  }

  /** Asserts that an answer to a described path has a described status, media type, body and headers. */
  check(method: string, target: string, answer: Answer): void {
    const path = this.#pathOf(target);
    const operation = this.document.paths[path ?? '']?.[describedMethod(method)];
    if (path === undefined || operation === undefined) return;
    const what = `${method} ${target}: ${answer.status} ${answer.text.slice(0, 300)}`;
    const status =
      answer.status >= 400 && operation.responses[answer.status] === undefined ? 'default' : answer.status;
    const response = operation.responses[status];
    assert.ok(response !== undefined, `is described: ${what}`);
    this.seen.add(`${operation.operationId} ${answer.status}`);
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      if (this.#isRequired(header)) assert.ok(answer.headers.has(name), `has ${name}: ${what}`);
    }
    const mediaType = answer.headers.get('content-type');
    assert.equal(mediaType !== null, response.content !== undefined, `content type: ${what}`);
    if (mediaType === null) return;
    assert.ok(
      response.content !== undefined && mediaType in response.content,
      `${mediaType} is described: ${what}`,
    );
    if (method === 'HEAD') return;
    const body = /\bjson\b|\+json/.test(mediaType) ? answer.json() : answer.text;
    if (Array.isArray(body) && 'X-Total-Count' in (response.headers ?? {}))
      assert.ok(answer.headers.has('x-total-count'), what);
    const of = [
      'paths',
      path,
      describedMethod(method),
      'responses',
      String(status),
      'content',
      mediaType,
      'schema',
    ];
    const errors = this.#schemas.validate(`api#/${of.map(token).join('/')}`, body);
    assert.equal(errors, undefined, `${errors ?? ''}: ${what}`);
  }

  #pathOf(target: string): string | undefined {
    const [rawPath = ''] = target.split('?', 1);
    const { paths } = this.document;
    return rawPath in paths ? rawPath : Object.keys(paths).find((template) => fits(template, rawPath));
  }

  /** @param header a reference to a component */
  #isRequired(header: unknown): boolean {
    const { $ref } = header as { readonly $ref: string };
    const { components } = this.document;
    const named = components.headers[$ref.replace('#/components/headers/', '')];
    assert.ok(named !== undefined, $ref);
    return named.required === true;
  }
}

/** The schemas of a description, each compiled when it is first needed, and the parts that they share only once. */
class Schemas {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });

  constructor(document: OpenApi) {
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(document, 'api');
  }

  /** @returns the violations of the schema as text; undefined if the value is valid */
  validate(pointer: string, value: unknown): string | undefined {
    const validator = this.#ajv.getSchema(pointer);
    assert.ok(validator !== undefined, pointer);
    return validator(value) ? undefined : this.#ajv.errorsText(validator.errors);
  }
}

/** HEAD has the description of GET. */
function describedMethod(method: string): string {
  return method === 'HEAD' ? 'get' : method.toLowerCase();
}

function fits(template: string, path: string): boolean {
  const [expected, given] = [template.split('/'), path.split('/')];
  return (
    expected.length === given.length &&
    expected.every((segment, index) =>
      segment.startsWith('{') ? given[index] !== '' : segment === given[index],
    )
  );
}

function token(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}
