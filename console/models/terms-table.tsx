import { useState } from 'preact/hooks';
import { Field } from '../parts/fields.js';
import { Pending } from '../parts/states.js';
import { count } from '../shared/format.js';
import { useLoad } from '../shared/use-load.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import { readTerms } from './read-terms.js';
import { isLink } from './terms.js';

/** Number of terms shown at first, and added with each press. */
const PAGE = 100;

/** A list this short needs no search field. */
const FEW = 10;

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
  const [part, setPart] = useState('');
  const [most, setMost] = useState(PAGE);
  const { value, error, reload } = useLoad(id, (signal) => readTerms(document, isCore, signal));
  if (error !== undefined || value === undefined)
    return <Pending {...{ value, error, reload }} title={t.failed} />;
  const hasSources = value.terms.some(({ from }) => from !== undefined);
  const found = value.terms.filter(({ term, iri }) => hasPart(part, term, iri));
  return (
    <>
      {value.terms.length === 0 ? (
        <p class="quiet">{t.none}</p>
      ) : (
        <>
          {value.terms.length > FEW && (
            <div class="narrow-field">
              <Field
                label={t.search}
                value={part}
                onInput={(typed) => {
                  setPart(typed);
                  setMost(PAGE);
                }}
              />
            </div>
          )}
          {found.length === 0 && <p class="quiet">{t.notFound}</p>}
          <Table label={t.title} columns={[t.term, t.iri, t.coercion, ...(hasSources ? [t.from] : [])]}>
            {found.slice(0, most).map(({ term, iri, coercion, from }) => (
              <tr key={term}>
                <th scope="row" class="term">
                  {term}
                </th>
                <td class="iri">{iri === undefined ? <em>{t.noIri}</em> : <Iri iri={iri} />}</td>
                <td>{coercion === undefined ? '–' : <code>{coercion}</code>}</td>
                {hasSources && <td class="iri">{from === undefined ? t.itself : <Iri iri={from} />}</td>}
              </tr>
            ))}
          </Table>
          {found.length > most && (
            <p class="actions">
              <button type="button" onClick={() => setMost(most + PAGE)}>
                {t.more(count(Math.min(PAGE, found.length - most)), count(found.length))}
              </button>
            </p>
          )}
        </>
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

function hasPart(part: string, ...texts: readonly (string | undefined)[]): boolean {
  const small = part.trim().toLowerCase();
  return texts.some((one) => one?.toLowerCase().includes(small) === true);
}

/** An IRI, as a link where a browser may follow it. */
function Iri({ iri }: { readonly iri: string }) {
  return isLink(iri) ? (
    <a href={iri} rel="noopener noreferrer" target="_blank">
      {iri}
    </a>
  ) : (
    <>{iri}</>
  );
}
