import { useEffect, useState } from 'preact/hooks';
import { Button, ButtonLink } from '../parts/button.js';
import { api } from '../api/client.js';
import { Listing, usePagedList } from '../parts/listing.js';
import { Form, bindForm, Field, focusFirstField, nonEmpty } from '../parts/fields.js';
import { Page } from '../parts/page.js';
import { count, time } from '../shared/format.js';
import { replaceAddress } from '../shared/router.js';
import { ForRole } from '../parts/for-role.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import { DomainDialog } from './domain-dialogs.js';
import { ModelTable } from './model-table.js';
import { toContexts, toDomain, toImport, toModels, toNewModel, toReferences } from './routes.js';
import { useDebounced } from '../shared/hooks.js';

const FILTERS = ['q', 'type', 'attribute'] as const;
type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;

/** All domains, or, during a search, the matching models of all domains. */
export function DomainListPage({ params }: { readonly params: URLSearchParams }) {
  const t = text.models;
  const shown = filtersOf(params);
  const [filters, setFilters] = useState<Filters>(shown);
  const [isCreating, setIsCreating] = useState(false);
  const settled = useDebounced(filters);
  const isSearch = FILTERS.some((name) => shown[name] !== '');
  useEffect(() => {
    if (FILTERS.some((name) => settled[name] !== shown[name])) replaceAddress(toModels(settled));
  }, [settled]);
  const bind = bindForm(filters, (changed) => setFilters({ ...filters, ...changed }));
  return (
    <Page
      title={text.pages.models}
      lead={t.lead}
      actions={
        <>
          <ButtonLink href={toNewModel()} label={t.create} />
          <ButtonLink href={toImport()} label={t.importLink} />
          <ForRole roles={['modeller']}>
            <Button onClick={() => setIsCreating(true)} label={t.createDomain} />
          </ForRole>
          <ButtonLink href={toContexts()} label={t.contexts.title} />
          <ButtonLink href={toReferences()} label={t.references.title} />
        </>
      }
    >
      <Form class="filters" role="search" aria-label={t.search}>
        <Field {...bind('q')} label={t.q} hint={t.qHint} />
        <Field {...bind('type')} label={t.type} hint={t.typeHint} />
        <Field {...bind('attribute')} label={t.attribute} hint={t.attributeHint} />
        {FILTERS.some((name) => filters[name] !== '') && (
          <Button
            class="clear"
            onClick={({ currentTarget }) => {
              setFilters({ q: '', type: '', attribute: '' });
              focusFirstField(currentTarget);
            }}
            label={t.clearSearch}
          />
        )}
      </Form>
      {isSearch ? <SearchResults filters={shown} params={params} /> : <Domains params={params} />}
      {isCreating && <DomainDialog onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function filtersOf(params: URLSearchParams): Filters {
  return {
    q: params.get('q') ?? '',
    type: params.get('type') ?? '',
    attribute: params.get('attribute') ?? '',
  };
}

function SearchResults({ filters, params }: { readonly filters: Filters; readonly params: URLSearchParams }) {
  const t = text.models;
  const list = usePagedList(params, JSON.stringify(filters), (page, signal) =>
    api.page('/models', { query: { ...nonEmpty(filters), ...page }, signal }),
  );
  return (
    <section class="found" aria-labelledby="found">
      {list.value !== undefined && (
        <h2 id="found">
          <span role="status">{t.found(list.value.total)}</span>
        </h2>
      )}
      <Listing list={list} to={(one) => toModels({ ...filters, page: one })} empty={<p>{t.nothingFound}</p>}>
        {(items) => <ModelTable models={items} label={t.search} hasDomains />}
      </Listing>
    </section>
  );
}

function Domains({ params }: { readonly params: URLSearchParams }) {
  const t = text.models;
  const list = usePagedList(params, 'domains', (query, signal) => api.page('/domains', { query, signal }));
  return (
    <Listing
      list={list}
      to={(one) => toModels({ page: one })}
      empty={
        <>
          <p>{t.empty}</p>
          <p>
            <a href={toNewModel()}>{t.emptyCreate}</a> · <a href={toImport()}>{text.labels.import}</a>
          </p>
        </>
      }
    >
      {(items) => (
        <Table
          label={t.domains}
          columns={[
            text.labels.domain,
            text.labels.description,
            { number: t.models },
            t.compatibility,
            t.changed,
          ]}
        >
          {items.map(({ name, description, compatibility, models, modifiedAt }) => (
            <tr key={name}>
              <td class="name">
                <a href={toDomain(name)}>{name}</a>
              </td>
              <td class="prose">
                <p class="clamped">{description}</p>
              </td>
              <td class="number">{count(models)}</td>
              <td>{compatibility}</td>
              <td class="when">{time(modifiedAt)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Listing>
  );
}
