import { Page, PendingPage } from '../parts/page.js';
import { Card } from '../parts/card.js';
import { Download } from '../parts/button.js';
import { Listing, usePagedList } from '../parts/listing.js';
import { api, apiUrl } from '../api/client.js';
import { ConfirmButton } from '../parts/dialog.js';
import { time } from '../shared/format.js';
import { useLoad } from '../shared/hooks.js';
import { ForRole } from '../parts/for-role.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import { JsonText } from '../parts/json-text.js';
import { toImport, toModels, toReference, toReferences } from './routes.js';
import { ReferenceModels } from './reference-models.js';
import {
  findReference,
  readReference,
  removeReference,
  type ReadReference,
  type Reference,
} from './references-api.js';
import { parseJson } from '../../sidecar/shared/json/lossless-json.js';

/** The list of reference documents, or the one that the address names. */
export function ReferencesPage({
  uri,
  params,
}: {
  readonly uri: string | undefined;
  readonly params: URLSearchParams;
}) {
  if (uri !== undefined) return <ReferencePage key={uri} uri={uri} />;
  return <ReferenceList params={params} />;
}

function ReferenceList({ params }: { readonly params: URLSearchParams }) {
  const t = text.models.references;
  const list = usePagedList(params, 'references', (query, signal) =>
    api.page('/references', { query, signal }),
  );
  return (
    <Page title={t.title} crumbs={[[toModels(), text.models.allDomains]]} lead={t.lead}>
      <Listing
        list={list}
        to={(one) => toReferences({ page: one })}
        empty={
          <>
            <p>{t.empty}</p>
            <a href={toImport()}>{text.labels.import}</a>
          </>
        }
      >
        {(items) => (
          <Table
            label={t.title}
            columns={[t.uri, t.source, { number: text.models.size }, text.models.changed]}
          >
            {items.map(({ uri, source, size, modifiedAt }) => (
              <tr key={uri}>
                <td class="iri">
                  <a href={toReference(uri)}>{uri}</a>
                </td>
                <td>{source}</td>
                <td class="number">{text.models.bytes(size)}</td>
                <td class="when">{time(modifiedAt)}</td>
              </tr>
            ))}
          </Table>
        )}
      </Listing>
    </Page>
  );
}

const CRUMBS = [
  [toModels(), text.models.allDomains],
  [toReferences(), text.models.references.all],
] as const;

function ReferencePage({ uri }: { readonly uri: string }) {
  const { value, error, reload } = useLoad(uri, async (signal) => {
    const [read, about] = await Promise.all([readReference(uri, signal), findReference(uri, signal)]);
    return { read, about };
  });
  if (value === undefined)
    return <PendingPage title={<span class="uri">{uri}</span>} crumbs={CRUMBS} {...{ error, reload }} />;
  return <ReferenceView uri={uri} {...value} onChanged={reload} />;
}

function ReferenceView({
  uri,
  read,
  about,
  onChanged,
}: {
  readonly uri: string;
  readonly read: ReadReference;
  readonly about: Reference | undefined;
  readonly onChanged: () => void;
}) {
  const t = text.models.references;
  return (
    <Page
      title={<span class="uri">{uri}</span>}
      crumbs={CRUMBS}
      actions={
        <>
          {about !== undefined && <span class="chip">{about.source}</span>}
          <ForRole roles={['modeller']}>
            <ConfirmButton
              label={text.labels.remove}
              class="last"
              title={t.removeTitle}
              message={t.removeWhat(uri)}
              confirm={t.removeGo}
              onConflict={onChanged}
              onConfirm={async () => {
                await removeReference(uri, read.etag);
                location.hash = toReferences();
              }}
            >
              <p class="quiet">{t.removeUsed}</p>
            </ConfirmButton>
          </ForRole>
        </>
      }
    >
      {about !== undefined && (
        <p class="lead">
          {t.notes[about.source]} {text.models.bytes(about.size)} · {time(about.modifiedAt)}
        </p>
      )}
      <ReferenceModels uri={uri} read={read} isFetched={about?.source === 'fetched'} onChanged={onChanged} />
      <Card
        id="document"
        title={t.document}
        tools={<Download href={apiUrl(['references'], { uri })} name={fileOf(uri)} />}
      >
        <JsonText label={t.document} value={parseJson(read.text)} isWhole />
      </Card>
    </Page>
  );
}

/** Returns a file name for a document: the end of its URI. */
function fileOf(uri: string): string {
  const last = uri.split(/[/:?]/).findLast((part) => part !== '') ?? 'document';
  return last.endsWith('.json') ? last : `${last}.json`;
}
