/**
 * Runs the embedded broker in a separate process, and follows the commands that its parent sends over IPC. It is plain
 * JavaScript, as is the broker, whose file is the argument.
 *
 * @import { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js'
 * @import { BrokerAnswer, BrokerCommand } from './broker-protocol.js'
 */
import { pathToFileURL } from 'node:url';

/** @type {unknown} */
const built = await import(pathToFileURL(process.argv[2] ?? '').href);
if (!isBrokerModule(built)) throw new Error('The embedded broker is not built.');
const { startEmbeddedBroker } = built;

/** @param {unknown} value @returns {value is typeof import('../../sidecar/embedded-broker/index.js')} */
function isBrokerModule(value) {
  return typeof value === 'object' && value !== null && 'startEmbeddedBroker' in value;
}

/** @type {EmbeddedBroker | undefined} */
let broker;

/** @param {BrokerCommand} command @returns {Promise<string | number>} */
async function obey(command) {
  if (command.do === 'start') {
    broker = await startEmbeddedBroker({ behaviour: { latencyMs: command.latencyMs } });
    return broker.url;
  }
  if (broker === undefined) throw new Error('the broker has not been started');
  if (command.do === 'seed') {
    const { type, amount, attributes = 0 } = command;
    broker.entities.seed(amount, (index) => ({ ...entity(type, index), ...more(attributes, index) }));
    // Collect the garbage of seeding now, so that it is not collected while something is measured (--expose-gc).
    globalThis.gc?.();
  }
  return broker.entities.count();
}

/** @param {string} type @param {number} index */
function entity(type, index) {
  return {
    id: `urn:ngsi-ld:${type}:${index}`,
    type,
    speed: { type: 'Property', value: index % 180, unitCode: 'KMH' },
    brandName: { type: 'Property', value: 'Mercedes' },
  };
}

/** @param {number} amount @param {number} index */
function more(amount, index) {
  /** @type {Record<string, object>} */
  const attributes = {};
  for (let number = 0; number < amount; number += 1) {
    const value = number % 2 === 0 ? (index * number) % 1000 : `of the ${index % 100}th district`;
    attributes[`attribute${number}`] = { type: 'Property', value, observedAt: '2026-01-01T00:00:00Z' };
  }
  return attributes;
}

/** @param {BrokerAnswer} answer */
const tell = (answer) => process.send?.(answer);

process.on('message', (/** @type {BrokerCommand} */ command) => {
  obey(command).then(
    (value) => tell({ value }),
    (/** @type {unknown} */ error) => tell({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
