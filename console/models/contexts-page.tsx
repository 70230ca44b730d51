import { ButtonLink } from '../parts/button.js';
import { api, type WithETag } from '../api/client.js';
import { Page, PendingPage } from '../parts/page.js';
import { Card } from '../parts/card.js';
import { Listing, usePagedList } from '../parts/listing.js';
import { JsonText } from '../parts/json-text.js';
import { Copyable } from '../parts/copyable.js';
import { ConfirmButton } from '../parts/dialog.js';
import { time } from '../shared/format.js';
import { useLoad } from '../shared/hooks.js';
import { ForRole } from '../parts/for-role.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import { ContextEditor } from './context-editor.js';
import { findContext, readContext, removeContext, type Context } from './contexts-api.js';
import { NEW_CONTEXT, toContext, toContexts, toModels } from './routes.js';

/** The list of contexts, or the one that the address names. */
export function ContextsPage({
  name,
  step,
  params,
}: {
  readonly name: string | undefined;
  readonly step: string | undefined;
  readonly params: URLSearchParams;
}) {
  if (name === NEW_CONTEXT) return <ContextEditor key={NEW_CONTEXT} />;
  if (name !== undefined) return <ContextPage key={name} name={name} isEdited={step === 'edit'} />;
  return <ContextList params={params} />;
}

const CRUMBS = [[toContexts(), text.models.contexts.all]] as const;

function ContextList({ params }: { readonly params: URLSearchParams }) {
  const t = text.models.contexts;
  const list = usePagedList(params, 'contexts', (query, signal) => api.page('/contexts', { query, signal }));
  return (
    <Page
      title={t.title}
      crumbs={[[toModels(), text.models.allDomains]]}
      lead={t.lead}
      actions={<ButtonLink href={toContext(NEW_CONTEXT)} label={t.create} />}
    >
      <Listing list={list} to={(one) => toContexts({ page: one })}>
        {(items) => (
          <Table
            label={t.title}
            columns={[
              text.labels.name,
              text.labels.kind,
              { number: text.models.version },
              text.models.changed,
            ]}
          >
            {items.map(({ name, kind, version, modifiedAt }) => (
              <tr key={name}>
                <td class="name">
                  <a href={toContext(name)}>{name}</a>
                </td>
                <td>{kind}</td>
                <td class="number">{version ?? '–'}</td>
                <td class="when">{modifiedAt === undefined ? '–' : time(modifiedAt)}</td>
              </tr>
            ))}
          </Table>
        )}
      </Listing>
    </Page>
  );
}

function ContextPage({ name, isEdited }: { readonly name: string; readonly isEdited: boolean }) {
  const { value, error, reload } = useLoad(name, async (signal) => {
    const [document, about] = await Promise.all([readContext(name, signal), findContext(name, signal)]);
    return { document, about };
  });
  if (value === undefined) return <PendingPage title={name} crumbs={CRUMBS} {...{ error, reload }} />;
  const { document, about } = value;
  if (isEdited && about?.kind === 'custom')
    return <ContextEditor key={document.etag} name={name} read={document} onSaved={reload} />;
  return <ContextView name={name} read={document} about={about} onChanged={reload} />;
}

function ContextView({
  name,
  read: { value: document, etag },
  about,
  onChanged,
}: {
  readonly name: string;
  readonly read: WithETag<unknown>;
  readonly about: Context | undefined;
  readonly onChanged: () => void;
}) {
  const t = text.models.contexts;
  const isCustom = about?.kind === 'custom';
  return (
    <Page
      title={name}
      crumbs={CRUMBS}
      lead={about && t.notes[about.kind]}
      actions={
        <>
          {about !== undefined && <span class="chip">{about.kind}</span>}
          {isCustom && (
            <>
              <ButtonLink href={toContext(name, 'edit')} label={text.labels.edit} />
              <ForRole roles={['modeller']}>
                <ConfirmButton
                  label={text.labels.remove}
                  title={t.removeTitle(name)}
                  message={t.removeWhat}
                  confirm={t.removeGo}
                  onConflict={onChanged}
                  onConfirm={async () => {
                    await removeContext(name, etag);
                    location.hash = toContexts();
                  }}
                />
              </ForRole>
            </>
          )}
        </>
      }
    >
      <Card id="document" title={t.document}>
        {about !== undefined && <Copyable label={t.url} value={about.url} />}
        <JsonText label={t.document} value={document} isWhole />
      </Card>
    </Page>
  );
}
