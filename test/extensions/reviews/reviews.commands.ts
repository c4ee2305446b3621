import { type ExtensionCommand, WorkspacesService } from 'millwright';
import { ReviewStore } from './reviews.store.js';

export const REVIEWS_COMMANDS: Record<string, ExtensionCommand> = {
  list: {
    description: 'the reviews of a workspace',
    required: { '--workspace <slug>': 'which workspace' },
    example: '--workspace acme',
    async run(services, { workspace }) {
      const { id } = await services.get(WorkspacesService).get(String(workspace));
      const reviews = await services.get(ReviewStore).ofWorkspace(id);
      return { reviews: reviews.map(({ id, task, rating, text }) => ({ id, task: task.title, rating, text })) };
    },
  },
  'delete <id>': {
    description: 'deletes a review',
    example: '019aa3b5-7d1e-7f00-8a2b-3c4d5e6f7081',
    async run(services, _options, id) {
      await services.get(ReviewStore).delete(id);
      return { deleted: true, id };
    },
  },
};
