import t from 'tap'
import { templates } from '#test/fixtures/gallery/templates.ts'
import { testGallery } from '#test/helpers/gallery.ts'

await testGallery(t, templates)
