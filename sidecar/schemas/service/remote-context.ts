import { createHash } from 'node:crypto';
import { ContextUnavailableError } from '../json-ld/errors.js';
import type { Supply } from '../json-ld/supplied.js';
import { RemoteDocumentError, type RemoteFailure } from '../remote/errors.js';
import type { RemoteDocuments } from '../remote/remote-documents.js';

/** Nothing was sent to where the document would have come from. */
const REFUSALS: ReadonlySet<RemoteFailure> = new Set(['origin-not-allowed', 'address-not-allowed']);

/** Fetches the context of a URL of an allowed origin. */
export async function fetchContext(remote: RemoteDocuments, url: string): Promise<Supply> {
  try {
    const { text, url: documentUrl } = await remote.fetch(url);
    return { sha256: createHash('sha256').update(text).digest('hex'), text, documentUrl };
  } catch (error) {
    if (!(error instanceof RemoteDocumentError)) throw error;
    const { message } = new ContextUnavailableError(url, `cannot be used: ${error.message}`);
    const code = REFUSALS.has(error.failure) ? 'CONTEXT_REFUSED' : 'CONTEXT_NOT_HAD';
    return { failure: { code, detail: message } };
  }
}
