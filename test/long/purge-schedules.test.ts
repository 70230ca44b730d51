import { it } from 'node:test';
import { checkWritersBesidePurges } from '../support/writers-property.js';

it('thousands of purges during writes by other clients delete only fresh matches, respect their maxima, count each effect, and learn nothing from races', async () => {
  for (const seed of [1, 2, 3, 4, 5]) await checkWritersBesidePurges(2000, seed);
});
