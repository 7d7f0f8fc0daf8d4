import t from 'tap'
import { documents } from '#test/fixtures/gallery/documents.ts'
import { testGallery } from '#test/helpers/gallery.ts'

await testGallery(t, documents)
