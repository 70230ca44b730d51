import { Failure, Loading } from '../parts/states.js';
import { count } from '../shared/format.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { readTerms } from './read-terms.js';
import { isLink } from './terms.js';

/** The terms of a context, each with the IRI that it means. */
export function TermsTable({
  id,
  document,
  isCore = false,
}: {
  /** Changes with the document. */
  readonly id: string;
  readonly document: unknown;
  readonly isCore?: boolean;
}) {
  const t = text.models.terms;
  const { value, error, reload } = useLoad(id, (signal) => readTerms(document, isCore, signal));
  if (error !== undefined) return <Failure error={error} onRetry={reload} title={t.failed} />;
  if (value === undefined) return <Loading />;
  const hasSources = value.terms.some(({ from }) => from !== undefined);
  return (
    <>
      {value.terms.length === 0 ? (
        <p class="quiet">{t.none}</p>
      ) : (
        <div class="table" role="region" aria-label={t.title} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t.term}</th>
                <th scope="col">{t.iri}</th>
                <th scope="col">{t.coercion}</th>
                {hasSources && <th scope="col">{t.from}</th>}
              </tr>
            </thead>
            <tbody>
              {value.terms.map(({ term, iri, coercion, from }) => (
                <tr key={term}>
                  <th scope="row" class="term">
                    {term}
                  </th>
                  <td class="iri">{iri === undefined ? <em>{t.noIri}</em> : <Iri iri={iri} />}</td>
                  <td>{coercion === undefined ? '–' : <code>{coercion}</code>}</td>
                  {hasSources && <td class="iri">{from === undefined ? t.itself : <Iri iri={from} />}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {value.isCut && <p class="hint">{t.cut(count(value.terms.length))}</p>}
      {value.others.length > 0 && (
        <p class="quiet others">
          {t.others}{' '}
          {value.others.map((url, index) => (
            <span key={url}>
              {index > 0 && ', '}
              <Iri iri={url} />
            </span>
          ))}
        </p>
      )}
    </>
  );
}

/** An IRI, as a link where a browser may follow it. */
export function Iri({ iri }: { readonly iri: string }) {
  return isLink(iri) ? (
    <a href={iri} rel="noopener noreferrer" target="_blank">
      {iri}
    </a>
  ) : (
    <>{iri}</>
  );
}
