import { useState } from 'preact/hooks';
import { Button, ButtonLink } from '../parts/button.js';
import { api, apiUrl } from '../api/client.js';
import { Page, PendingPage } from '../parts/page.js';
import { Listing, usePagedList } from '../parts/listing.js';
import { Failure } from '../parts/states.js';
import { useLoad } from '../shared/hooks.js';
import { ForRole } from '../parts/for-role.js';
import { text } from '../strings.js';
import { DomainDialog, RemoveDomainDialog } from './domain-dialogs.js';
import { ModelTable } from './model-table.js';
import { listModels, readDomain } from './models-api.js';
import { toContext, toDomain, toImport, toModels, toNewModel } from './routes.js';

const CRUMBS = [[toModels(), text.models.allDomains]] as const;

/** One domain: its models, and warnings about the context that they share. */
export function DomainPage({ name, params }: { readonly name: string; readonly params: URLSearchParams }) {
  const t = text.models;
  const [asking, setAsking] = useState<'edit' | 'remove'>();
  const read = useLoad(name, (signal) => readDomain(name, signal));
  const models = usePagedList(params, name, (query, signal) => listModels(name, query, signal));
  const close = () => setAsking(undefined);
  if (read.value === undefined)
    return <PendingPage title={name} crumbs={CRUMBS} error={read.error} reload={read.reload} />;
  const { description, compatibility } = read.value.value;
  return (
    <Page
      title={name}
      crumbs={CRUMBS}
      lead={description}
      actions={
        <>
          <ButtonLink href={toNewModel(name)} label={t.create} />
          <ButtonLink href={toImport(name)} label={t.importLink} />
          <ButtonLink
            href={apiUrl(['export'], { domain: name })}
            download={`${name}.tar.gz`}
            label={t.export}
          />
          <ForRole roles={['modeller']}>
            <Button onClick={() => setAsking('edit')} label={text.labels.edit} />
            <Button
              disabled={models.value === undefined}
              onClick={() => setAsking('remove')}
              label={text.labels.remove}
            />
          </ForRole>
        </>
      }
    >
      <p class="lead">
        {t.compatibility}: <strong>{compatibility}</strong> ({t.compatibilities[compatibility]}) ·{' '}
        <a href={toContext(name)}>{t.domainContext}</a>
      </p>
      {read.error !== undefined && <Failure error={read.error} onRetry={read.reload} />}
      <Listing
        list={models}
        to={(one) => toDomain(name, { page: one })}
        empty={
          <>
            <p>{t.emptyDomain}</p>
            <a href={toNewModel(name)}>{t.emptyCreate}</a>
          </>
        }
      >
        {(items) => <ModelTable models={items} label={t.modelsOf(name)} />}
      </Listing>
      <Warnings domain={name} />
      {asking === 'edit' && (
        <DomainDialog
          read={read.value}
          onClose={() => {
            close();
            // The domain may have been changed elsewhere.
            read.reload();
          }}
        />
      )}
      {asking === 'remove' && models.value !== undefined && (
        <RemoveDomainDialog
          read={read.value}
          models={models.value.total}
          onClose={close}
          onConflict={() => {
            read.reload();
            models.reload();
          }}
        />
      )}
    </Page>
  );
}

/** Warnings about the context of all models of a domain. */
function Warnings({ domain }: { readonly domain: string }) {
  const t = text.models;
  const { value, error, reload } = useLoad(domain, (signal) =>
    api.page('/domains/{domain}/context/warnings', { path: { domain }, signal }),
  );
  if (error !== undefined) return <Failure error={error} onRetry={reload} title={t.noWarningsRead} />;
  if (value === undefined || value.total === 0) return null;
  return (
    <details class="notice warn">
      <summary>{t.domainWarnings(value.total)}</summary>
      <ul class="findings">
        {value.items.map(({ code, term, detail }, index) => (
          <li key={index}>
            {detail} <span class="chip">{term === undefined ? code : `${code}: ${term}`}</span>
          </li>
        ))}
      </ul>
      {value.total > value.items.length && <p>{t.andMore(value.total - value.items.length)}</p>}
    </details>
  );
}
