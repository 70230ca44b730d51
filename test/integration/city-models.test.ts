import { after } from 'node:test';
import { demonstrateCity } from '../support/city-demonstration.js';
import { stopAll } from '../support/gateway-harness.js';

after(stopAll);

demonstrateCity({ entities: 200, broken: 20, batch: 50 });
