import { it } from 'node:test';
import { checkWritersBesidePurges } from '../support/writers-property.js';

it('thousands of purges beside writers delete only fresh matches, within their maxima, count each effect, and learn nothing from races', async () => {
  for (const seed of [1, 2, 3, 4, 5]) await checkWritersBesidePurges(2000, seed);
});
