// The path that scripts know from version 0.1; it goes with the next minor version.
import '../schemas/store/backup-command.js';
