import { Failure, Loading } from '../parts/states.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { shownJson } from './model-schema.js';
import { apiAddress } from '../api/client.js';
import { readFile, type Model } from './models-api.js';

const FILES = ['example.jsonld', 'example-normalized.jsonld'] as const;

/** The entities that the gateway makes of a model, as files. */
export function ExampleFiles({ model, etag }: { readonly model: Model; readonly etag: string }) {
  const t = text.models.examples;
  return (
    <section class="card" aria-labelledby="made">
      <h2 id="made">{t.made}</h2>
      <p class="quiet">{t.madeLead}</p>
      <div class="columns">
        {FILES.map((file) => (
          <ExampleFile key={`${file} ${etag}`} model={model} file={file} />
        ))}
      </div>
    </section>
  );
}

function ExampleFile({ model, file }: { readonly model: Model; readonly file: (typeof FILES)[number] }) {
  const t = text.models.examples;
  const address = apiAddress(['domains', model.domain, 'models', model.name, 'files', file]);
  const { value, error, reload } = useLoad(address, (signal) => readFile(model, file, signal));
  return (
    <div class="file">
      <div class="bar">
        <h3>{t.files[file]}</h3>
        <a class="button small" href={address} download={`${model.name}.${file}`}>
          {text.models.download}
        </a>
      </div>
      {error !== undefined && <Failure error={error} onRetry={reload} title={t.noFile} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && (
        <pre tabIndex={0} aria-label={t.files[file]}>
          {shownJson(value)}
        </pre>
      )}
    </div>
  );
}
