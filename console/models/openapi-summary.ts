import { writeJson } from '../../sidecar/shared/json/lossless-json.js';

/** The content of an API description (OpenAPI 3.1), in the order of its paths. */
export interface ApiSummary {
  readonly operations: readonly ApiOperation[];
  readonly schemas: readonly ApiSchema[];
}

export interface ApiOperation {
  readonly method: string;
  readonly path: string;
  readonly summary: string | undefined;
  readonly parameters: readonly ApiParameter[];
  /** The media types of the body, and what they contain. */
  readonly body: readonly ApiContent[];
  readonly answers: readonly ApiAnswer[];
}

interface ApiParameter {
  readonly name: string;
  readonly place: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
}

interface ApiContent {
  readonly mediaType: string;
  readonly holds: string;
}

interface ApiAnswer {
  readonly status: string;
  readonly description: string | undefined;
}

export interface ApiSchema {
  readonly name: string;
  readonly members: readonly {
    readonly name: string;
    readonly holds: string;
    readonly isRequired: boolean;
    readonly description: string | undefined;
  }[];
}

type Part = Readonly<Record<string, unknown>>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Reads an API description. Malformed parts are skipped, because the file itself can be downloaded. */
export function summaryOf(document: unknown): ApiSummary {
  const root = partOf(document);
  const resolve = (value: unknown) => resolved(root, value);
  const operations = Object.entries(partOf(root['paths'])).flatMap(([path, item]) => {
    const shared = listOf(partOf(item)['parameters']);
    return METHODS.filter((method) => method in partOf(item)).map((method) => {
      const operation = partOf(partOf(item)[method]);
      return {
        method: method.toUpperCase(),
        path,
        summary: textOf(operation['summary']),
        parameters: [...shared, ...listOf(operation['parameters'])].map(resolve).map(parameterOf),
        body: contentOf(resolve(operation['requestBody'])),
        answers: Object.entries(partOf(operation['responses'])).map(([status, answer]) => ({
          status,
          description: textOf(resolve(answer)['description']),
        })),
      };
    });
  });
  const schemas = Object.entries(partOf(partOf(root['components'])['schemas']));
  return {
    operations,
    schemas: schemas.flatMap(([name, schema]) => schemaOf(name, partOf(schema), resolve)),
  };
}

function schemaOf(name: string, schema: Part, resolve: (value: unknown) => Part): readonly ApiSchema[] {
  const properties = Object.entries(partOf(schema['properties']));
  if (properties.length === 0) return [];
  const required = listOf(schema['required']);
  const members = properties.map(([member, value]) => ({
    name: member,
    holds: holdsOf(value),
    isRequired: required.includes(member),
    description: textOf(partOf(value)['description']) ?? textOf(resolve(value)['description']),
  }));
  return [{ name, members }];
}

function parameterOf(parameter: Part): ApiParameter {
  return {
    name: textOf(parameter['name']) ?? '?',
    place: textOf(parameter['in']) ?? '',
    isRequired: parameter['required'] === true,
    description: textOf(parameter['description']),
  };
}

function contentOf(body: Part): readonly ApiContent[] {
  return Object.entries(partOf(body['content'])).map(([mediaType, content]) => ({
    mediaType,
    holds: holdsOf(partOf(content)['schema']),
  }));
}

/** Summarises in a few words what a schema describes. */
export function holdsOf(value: unknown, depth = 0): string {
  const schema = partOf(value);
  const reference = textOf(schema['$ref']);
  if (reference !== undefined) return reference.slice(reference.lastIndexOf('/') + 1);
  if (depth > 3) return '…';
  for (const union of [schema['anyOf'], schema['oneOf'], schema['allOf']])
    if (Array.isArray(union))
      return [...new Set(union.slice(0, 8).map((one) => holdsOf(one, depth + 1)))].join(' | ');
  if (schema['type'] === 'array') return `${holdsOf(schema['items'], depth + 1)}[]`;
  if ('const' in schema) return writeJson(schema['const']);
  if (Array.isArray(schema['enum']))
    return schema['enum']
      .slice(0, 8)
      .map((one) => writeJson(one))
      .join(' | ');
  const type = [schema['type']].flat().filter((one) => typeof one === 'string');
  const format = textOf(schema['format']);
  return `${type.length === 0 ? 'any' : type.join(' | ')}${format === undefined ? '' : ` (${format})`}`;
}

/** Follows one reference within the description. */
export function resolved(root: Part, value: unknown): Part {
  const part = partOf(value);
  const reference = textOf(part['$ref']);
  if (reference?.startsWith('#/') !== true) return part;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/'))
    found = partOf(found)[step.replace(/~1/g, '/').replace(/~0/g, '~')];
  return partOf(found);
}

export function partOf(value: unknown): Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Part) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
