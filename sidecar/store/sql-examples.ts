import { NotFoundError, TooManyExamplesError } from './errors.js';
import {
  type Example,
  type ExampleForm,
  MAX_EXAMPLES,
  type ModelKey,
  type NewExample,
  type NewExamples,
  type Page,
  type Paged,
} from './records.js';
import { requireModel } from './sql-model-rows.js';
import {
  all,
  type Expected,
  first,
  type IfMatch,
  isStorable,
  mapPage,
  putContent,
  requireExpected,
  requireMatch,
  requireStorable,
  run,
  sha256Of,
  SqlListing,
  type SqlSession,
  statement,
  type SqlRoutine,
} from './sql-routines.js';

interface OfModel {
  readonly modelId: number;
}

interface Named extends OfModel {
  readonly name: string;
}

interface ExampleRow {
  readonly name: string;
  readonly form: ExampleForm | null;
  readonly sha256: string;
  readonly size: number;
}

const SELECT = `
  SELECT name, form, content.sha256, size
  FROM model_example JOIN content ON content.sha256 = model_example.sha256
  WHERE model_id = @modelId`;
const ALL = statement<OfModel, ExampleRow>(SELECT);
const LISTING = new SqlListing<OfModel, ExampleRow>(SELECT, 'name');
const FIND = statement<Named, ExampleRow>(`${SELECT} AND name = @name`);
const PUT = statement<Named & { readonly form: string | null; readonly sha256: string }>(`
  INSERT INTO model_example (model_id, name, form, sha256) VALUES (@modelId, @name, @form, @sha256)
  ON CONFLICT (model_id, name) DO UPDATE SET form = excluded.form, sha256 = excluded.sha256`);
const DELETE = statement<Named>('DELETE FROM model_example WHERE model_id = @modelId AND name = @name');

/** Stores the examples of models. */
export class SqlExamples {
  constructor(private readonly session: SqlSession) {}

  /** Lists examples by name. @throws NotFoundError for the model */
  list(model: ModelKey, page: Page): Promise<Paged<Example>> {
    return this.session.read(function* () {
      const { id } = yield* requireModel(model);
      return mapPage(yield* LISTING.read(page, { modelId: id }), toExample);
    });
  }

  /** @throws NotFoundError */
  get(model: ModelKey, name: string): Promise<Example> {
    return this.session.read(() => requireExample(model, name));
  }

  /**
   * Adds an example, or replaces the one with the same name.
   *
   * @returns `isNew`: there was no example with this name
   * @throws NotFoundError for the model, PreconditionFailedError, TooManyExamplesError
   */
  put(
    model: ModelKey,
    name: string,
    example: NewExample,
    expected?: Expected,
  ): Promise<{ readonly example: Example; readonly isNew: boolean }> {
    return this.session.write(function* () {
      requireStorable({ name });
      const { id: modelId } = yield* requireModel(model);
      const before = yield* first(FIND, { modelId, name });
      requireExpected(refOf(model, name), before?.sha256, expected);
      yield* putRow({ modelId, name }, example);
      if ((yield* all(ALL, { modelId })).length > MAX_EXAMPLES) throw new TooManyExamplesError();
      return { example: yield* requireExample(model, name), isNew: before === undefined };
    });
  }

  /** @throws NotFoundError, PreconditionFailedError */
  delete(model: ModelKey, name: string, ifMatch?: IfMatch): Promise<void> {
    return this.session.write(function* () {
      const { id } = yield* requireModel(model);
      const { content } = yield* requireExample(model, name);
      requireMatch(refOf(model, name), content.sha256, ifMatch);
      yield* run(DELETE, { modelId: id, name });
    });
  }
}

export type Examples = Pick<SqlExamples, keyof SqlExamples>;

/** Replaces all examples of a model by these; within a transaction. @throws TooManyExamplesError */
export function* replaceExamples(modelId: number, examples: NewExamples): SqlRoutine<void> {
  if (examples.size > MAX_EXAMPLES) throw new TooManyExamplesError();
  const before = new Map((yield* all(ALL, { modelId })).map((row) => [row.name, row]));
  for (const name of before.keys()) if (!examples.has(name)) yield* run(DELETE, { modelId, name });
  for (const [name, example] of examples) {
    const row = before.get(name);
    if (row?.sha256 !== sha256Of(example.text) || row.form !== (example.form ?? null))
      yield* putRow({ modelId, name }, example);
  }
}

function* putRow(at: Named, { text, form }: NewExample): SqlRoutine<void> {
  yield* run(PUT, { ...at, form: form ?? null, sha256: yield* putContent('example', text) });
}

function* requireExample(model: ModelKey, name: string): SqlRoutine<Example> {
  const { id: modelId } = yield* requireModel(model);
  const row = isStorable(name) ? yield* first(FIND, { modelId, name }) : undefined;
  if (row === undefined) throw new NotFoundError(refOf(model, name));
  return toExample(row);
}

function toExample({ name, form, sha256, size }: ExampleRow): Example {
  return { name, form: form ?? undefined, content: { sha256, size } };
}

function refOf({ domain, name: model }: ModelKey, name: string) {
  return { kind: 'example', domain, model, name } as const;
}
