import { api } from '../api/client.js';
import { Card } from '../parts/card.js';
import { Download } from '../parts/download.js';
import { Copyable } from '../parts/copyable.js';
import { Pending } from '../parts/states.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { findContext } from './contexts-api.js';
import { JsonText } from '../parts/json-text.js';
import { addressIn, MODEL, pathOf, type Model } from './models-api.js';
import { toContext, toModel } from './places.js';

/** The context of a model, its URL for brokers, and the model's own context. */
export function ModelContext({ model, etag }: { readonly model: Model; readonly etag: string }) {
  const t = text.models.contexts;
  const address = addressIn(model, ['context']);
  const { value, error, reload } = useLoad(`${address} ${etag}`, async (signal) => {
    const [document, about] = await Promise.all([
      api.json('get', `${MODEL}/context`, { path: pathOf(model), signal }),
      findContext(model.contextName, signal),
    ]);
    return { document, url: about?.url };
  });
  const { context: own } = model;
  return (
    <>
      <Card
        id="document"
        title={t.document}
        tools={<Download href={address} name={`${model.name}.context.jsonld`} />}
      >
        <Pending {...{ value, error, reload }} />
        {value?.url !== undefined && <Copyable label={t.url} value={value.url} />}
        {value !== undefined && <JsonText label={t.document} value={value.document} isWhole />}
      </Card>
      <Card id="own" title={t.own}>
        {own === undefined ? <p class="quiet">{t.noOwn}</p> : <OwnContext own={own} />}
        <p>
          <a href={toModel(model, 'settings')}>{t.changeOwn}</a>
        </p>
      </Card>
    </>
  );
}

/** The name of a stored context is a link to it; anything else is shown as given. */
function OwnContext({ own }: { readonly own: unknown }) {
  if (typeof own === 'string' && !own.includes(':'))
    return (
      <p>
        <a href={toContext(own)}>{own}</a>
      </p>
    );
  return <JsonText label={text.models.contexts.own} value={own} />;
}
