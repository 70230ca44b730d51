import { type JsonValue, sameJson } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import type { PlannedDocument } from './import-plan.js';
import { ifThere, type SchemaService } from '../models/index.js';
import { PreconditionFailedError } from '../../store/index.js';
import type { ImportedFile } from './shapes.js';

/**
 * Stores a shared document under a URL. One that the import may not replace is left as it is, since the URL may be that of a file
 * of another repository.
 *
 * @throws what the service throws of a document that it refuses
 */
export async function storeDocument(
  { url, mayReplace }: PlannedDocument,
  text: string,
  references: Pick<SchemaService['references'], 'get' | 'put' | 'spellings'>,
): Promise<Pick<ImportedFile, 'status' | 'reason'>> {
  const document = parseJson(text) as JsonValue;
  if (mayReplace) {
    const { outcome } = await references.put(url, document);
    return { status: outcome === 'replaced' ? 'updated' : outcome };
  }
  const isSame = async (uri: string) => {
    const here = await ifThere('reference', references.get(uri));
    return here === undefined ? undefined : sameJson(parseJson(here.bytes.toString()), document);
  };
  const isSameHere = await isSame(url);
  if (isSameHere === undefined) {
    // Under another URL of the same file, it is that document that counts here.
    for (const other of await references.spellings(url))
      if ((await isSame(other)) === false)
        return { status: 'refused', reason: reasonFor(`${other}, another URL of this file`) };
    try {
      await references.put(url, document, 'absent');
      return { status: 'created' };
    } catch (error) {
      // Another client was first.
      if (!(error instanceof PreconditionFailedError)) throw error;
      return { status: 'refused', reason: reasonFor('this URL') };
    }
  }
  return isSameHere ? { status: 'unchanged' } : { status: 'refused', reason: reasonFor('this URL') };
}

/** @param place where another document is stored */
function reasonFor(place: string): string {
  return `Another document is stored under ${place}, and nothing but the file itself says that the URL is its own. To replace that document, store this one by PUT /api/v2/references?uri=…&dependents=true, with dryRun=true first.`;
}
