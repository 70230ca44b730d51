import { useEffect, useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { urlOf, api } from '../api/client.js';
import { accessToken } from '../api/sign-in.js';
import { token } from '../api/token.js';
import { Card } from '../parts/card.js';
import { Copyable } from '../parts/copyable.js';
import { Page } from '../parts/page.js';
import { ForRole, useMissingRole } from '../parts/for-role.js';
import { setAddress, routeTo } from '../shared/router.js';
import { text } from '../strings.js';
import { EMPTY_FORM, formOf, isEmpty, queryOf, type PurgeForm } from './form.js';
import { PreviewPane } from './preview.js';
import { PurgeFields } from './purge-fields.js';
import { commandOf, type Credential, curlOf, requestLine } from './request-text.js';
import { Form } from '../parts/fields.js';

const PURGER = ['purger'] as const;

/** The form of a purge, initially filled in from the address, the request that it makes, and what the request matches. */
export function PurgePage({ params }: { readonly params: URLSearchParams }) {
  const [form, setForm] = useState(() => formIn(params));
  const change = (next: PurgeForm) => {
    setAddress(addressOfForm(next));
    setForm(next);
  };
  useEffect(() => {
    if (params.get('query') !== null) return;
    // If the gateway keeps archives, a new purge can be undone by default.
    api.json('get', '/status').then(
      ({ archives }) => {
        if (archives === true) setForm(archivedByDefault);
      },
      () => undefined,
    );
  }, [params]);
  const query = queryOf(form);
  const isForOthers = useMissingRole(PURGER) !== undefined;
  return (
    <Page title={text.pages.purge} lead={text.purge.lead}>
      <div class="columns">
        <Form class="card">
          <ForRole roles={PURGER}>
            <PurgeFields form={form} onChange={change} />
          </ForRole>
          <div class="actions">
            <Button onClick={() => change({ ...EMPTY_FORM, target: form.target })} label={text.purge.clear} />
          </div>
        </Form>
        <div class="stack">
          {/* Each preview is a purge that only counts. A user without the role should not be refused at every key. */}
          <PreviewPane form={isForOthers ? EMPTY_FORM : form} />
          <Card id="request" title={text.purge.request}>
            <pre class="request" tabIndex={0} aria-labelledby="request">
              {requestLine(form, query)}
            </pre>
            {!isEmpty(form) && (
              <>
                <Copyable label={text.purge.curl} value={curlOf(form, query, urlOf(''), credential())} />
                <Copyable label={text.purge.command} value={commandOf(form, query, urlOf(''))} />
              </>
            )}
          </Card>
        </div>
      </div>
    </Page>
  );
}

/** Returns the kind of credential that requests of this tab are sent with. */
function credential(): Credential | undefined {
  if (accessToken() !== undefined) return 'access token';
  return token() === undefined ? undefined : 'gateway token';
}

/** Turns archiving on, unless the user has made a choice in the meantime. */
function archivedByDefault(form: PurgeForm): PurgeForm {
  return form.fields.archive === undefined && form.target === 'entities'
    ? { ...form, fields: { ...form.fields, archive: 'required' } }
    : form;
}

/** Returns the address of the form, filled in. */
export function addressOfForm(form: PurgeForm): string {
  const { target, tenant, link } = form;
  return routeTo(['purge'], {
    target: target === 'temporal' ? target : undefined,
    tenant,
    link,
    query: queryOf(form),
  });
}

function formIn(params: URLSearchParams): PurgeForm {
  return formOf(params.get('target') === 'temporal' ? 'temporal' : 'entities', params.get('query') ?? '', {
    tenant: params.get('tenant') ?? '',
    link: params.get('link') ?? '',
  });
}
