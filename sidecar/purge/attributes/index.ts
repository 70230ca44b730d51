/** Removes parts of entities: attributes, datasets and instances, in passes over all matches. */
export {
  type AttributeRemoval,
  checkKept,
  previewAttributes,
  removeAttributes,
} from './attribute-removal.js';
export { type ItemDelete, datasetParameter, deleteItem, deleteWholeAttribute } from './item-delete.js';
export { removeItems } from './item-removal.js';
