import type { WithETag } from '../api/client.js';
import { Card } from '../parts/card.js';
import { Pending } from '../parts/states.js';
import { useLoad } from '../shared/hooks.js';
import { text } from '../strings.js';
import { JsonText } from '../parts/json-text.js';
import { ModelFile } from './model-attributes.js';
import { listExamples, validate, type Model, type Verdict } from './models-api.js';
import { NewExample } from './new-example.js';
import { examplesOf, isObject } from './samples.js';
import { StoredExamples } from './stored-examples.js';
import { VerdictView } from '../workbench/verdicts.js';

/** The examples of a model and of its schema, each with its verdict, and those generated from the schema. */
export function ModelExamples({ read: { value: model, etag } }: { readonly read: WithETag<Model> }) {
  const t = text.models.examples;
  const examples = examplesOf(model.schema);
  const stored = useLoad(`${model.domain}/${model.name}`, (signal) => listExamples(model, signal));
  const { value, error, reload } = useLoad(etag, async (signal) =>
    Promise.all(examples.slice(0, SHOWN).map(async (one) => verdictOf(model, one, signal))),
  );
  return (
    <>
      <StoredExamples model={model} stored={stored} />
      <Card id="examples" title={t.title}>
        <p class="quiet">{t.lead}</p>
        {examples.length === 0 ? <p class="quiet">{t.none}</p> : <Pending {...{ value, error, reload }} />}
        <ol class="examples">
          {(value ?? []).map((verdict, index) => (
            <li key={index}>
              <JsonText label={t.one(index + 1)} value={examples[index]} />
              {verdict === undefined ? <p>{t.notChecked}</p> : <VerdictView verdict={verdict} />}
            </li>
          ))}
        </ol>
      </Card>
      <NewExample model={model} onKept={stored.reload} />
      <Card id="made" title={t.made}>
        <p class="quiet">{t.madeLead}</p>
        <div class="columns">
          {FILES.map((file) => (
            <ModelFile key={file} model={model} file={file} title={t.files[file]} failed={t.noFile} />
          ))}
        </div>
      </Card>
    </>
  );
}

/** Maximum number of examples that are checked and shown. */
const SHOWN = 20;

async function verdictOf(model: Model, example: unknown, signal: AbortSignal) {
  if (!isObject(example)) return undefined;
  return (await validate(model, JSON.stringify(example), signal)) as Verdict;
}

const FILES = ['example.jsonld', 'example-normalized.jsonld'] as const;
