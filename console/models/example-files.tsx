import { Card } from '../parts/card.js';
import { Download } from '../parts/download.js';
import { Pending } from '../parts/states.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { shownJson } from './model-schema.js';
import { addressIn, readFile, type Model } from './models-api.js';

const FILES = ['example.jsonld', 'example-normalized.jsonld'] as const;

/** The entities that the gateway generates from a model, as files. */
export function ExampleFiles({ model, etag }: { readonly model: Model; readonly etag: string }) {
  const t = text.models.examples;
  return (
    <Card id="made" title={t.made}>
      <p class="quiet">{t.madeLead}</p>
      <div class="columns">
        {FILES.map((file) => (
          <ExampleFile key={`${file} ${etag}`} model={model} file={file} />
        ))}
      </div>
    </Card>
  );
}

function ExampleFile({ model, file }: { readonly model: Model; readonly file: (typeof FILES)[number] }) {
  const t = text.models.examples;
  const address = addressIn(model, ['files', file]);
  const { value, error, reload } = useLoad(address, (signal) => readFile(model, file, signal));
  return (
    <div class="file">
      <div class="bar">
        <h3>{t.files[file]}</h3>
        <Download href={address} name={`${model.name}.${file}`} />
      </div>
      <Pending {...{ value, error, reload }} title={t.noFile} />
      {value !== undefined && (
        <pre tabIndex={0} aria-label={t.files[file]}>
          {shownJson(value)}
        </pre>
      )}
    </div>
  );
}
