import { it } from 'node:test';
import { checkWritersBesidePurges } from '../support/writers-property.js';

it('a purge beside any writers deletes only fresh matches, within its maximum, counts each effect, and learns nothing from races', async () => {
  await checkWritersBesidePurges(100, 20_261_126);
});
