import { after } from 'node:test';
import { demonstrateCity } from '../support/city-demonstration.js';
import { stopAll } from '../support/gateway-harness.js';

after(stopAll);

demonstrateCity({ entities: 400, broken: 40, batch: 50 });
