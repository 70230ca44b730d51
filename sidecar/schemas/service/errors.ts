import type { ChangeReport } from '../json-schema/change-report.js';
import type { SchemaFault } from '../json-schema/errors.js';
import { GatewayError } from '../../shared/errors.js';

/** What is wrong, and where in the input (RFC 6901). */
export type InputFault = SchemaFault;

/** A name that no domain, model or context may have. */
export class NameError extends GatewayError {
  readonly code = 'NAME_INVALID';
  readonly errors: readonly InputFault[];

  constructor(detail: string) {
    super(`The name ${detail}.`);
    this.errors = [{ pointer: '/name', detail }];
  }
}

/** A `contextBase` to which no term can be appended. */
export class ContextBaseError extends GatewayError {
  readonly code = 'CONTEXT_BASE_INVALID';
  readonly errors: readonly InputFault[];

  constructor() {
    const detail = 'is no http, https or urn IRI that ends with one of / # : =';
    super(`The contextBase ${detail}.`);
    this.errors = [{ pointer: '/contextBase', detail }];
  }
}

/** A URI under which no document can be stored. */
export class ReferenceUriError extends GatewayError {
  readonly code = 'REFERENCE_URI_INVALID';

  constructor(detail: string) {
    super(`The uri ${detail}.`);
  }
}

/** A schema, or a document for schemas to refer to, that cannot be accepted. */
export class SchemaNotAcceptedError extends GatewayError {
  /** That of the SchemaRefusedError it was refused with. */
  readonly code: string;

  /** @param missingUris documents that the schema refers to and that are not there */
  constructor(
    code: string,
    message: string,
    readonly errors: readonly InputFault[],
    readonly missingUris: readonly string[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
  }
}

/** The model asks for compatibility, and the change may refuse what passed before. */
export class IncompatibleChangeError extends GatewayError {
  readonly code = 'CHANGE_INCOMPATIBLE';

  constructor(readonly report: ChangeReport) {
    super(`The change is ${report.overall}, and the model takes compatible ones only.`);
  }
}

/** A context that comes with this product never changes. */
export class BundledContextError extends GatewayError {
  readonly code = 'CONTEXT_BUNDLED';

  constructor(readonly contextName: string) {
    super(`The context ${JSON.stringify(contextName)} comes with this product and cannot be changed.`);
  }
}

/** Others change what a write is made from, or what it is to change, each time it is tried. */
export class OvertakenError extends GatewayError {
  readonly code = 'OVERTAKEN';

  constructor(options: ErrorOptions) {
    super('What this depends on is being changed by others; try again.', options);
  }
}

/** The model version has no such file. */
export class FileNotFoundError extends GatewayError {
  readonly code = 'FILE_NOT_FOUND';

  constructor(readonly fileName: string) {
    super(`The model has no file ${JSON.stringify(fileName.slice(0, 200))}.`);
  }
}
