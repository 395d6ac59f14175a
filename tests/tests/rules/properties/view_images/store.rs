//! In-memory storage of chunks, in place of a publisher's files.

use std::collections::BTreeMap;
use std::sync::Arc;

use foretell_view::{ChunkBytes, ChunkCopy, ChunkRef, SeenChunks, View, ViewSnapshot};

/// Chunks and the number stored.
#[derive(Default)]
pub(crate) struct SnapshotStore {
    chunks: BTreeMap<ChunkRef, ChunkBytes>,
    seen: SeenChunks,
}

impl SnapshotStore {
    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// The bytes of a chunk, as from a file.
    pub(crate) fn chunk(&self, chunk: ChunkRef) -> Option<ChunkBytes> {
        self.chunks.get(&chunk).cloned()
    }

    /// Stores the chunks sealed since the last call, each once.
    pub(crate) fn collect(&mut self, view: &View) {
        for chunk in view.new_chunks(&mut self.seen) {
            let bytes = view
                .chunk_bytes(chunk.log, chunk.number)
                .expect("it is listed");
            let copy: ChunkBytes = Arc::new(bytes.as_ref().as_ref().to_vec());
            assert!(
                self.chunks.insert(chunk, copy).is_none(),
                "{chunk} came twice"
            );
        }
    }

    /// Serialises the view and restores it.
    pub(crate) fn renew(&mut self, view: &View) -> View {
        self.collect(view);
        let image = view.snapshot().expect("nothing was refused");
        assert_eq!(image.chunks.len(), self.chunks.len());
        assert!(
            image
                .chunks
                .iter()
                .all(|chunk| self.chunks.contains_key(chunk))
        );
        View::from_snapshot(|name| section(&image, name), |chunk| self.chunk(chunk))
            .expect("the image is whole")
    }

    /// Replaces the view's own chunks by the stored copies.
    pub(crate) fn lend(&mut self, view: &mut View) {
        self.collect(view);
        for (&chunk, copy) in &self.chunks {
            let own = view
                .chunk_bytes(chunk.log, chunk.number)
                .expect("it was sealed");
            let checked = ChunkCopy::new(chunk, own.clone(), copy.clone()).expect("they are alike");
            let back = view
                .adopt_chunk(checked.clone())
                .expect("it is what was compared with");
            assert!(Arc::ptr_eq(&back, &own));
            let again = view.adopt_chunk(checked);
            assert_eq!(
                again.is_none(),
                !Arc::ptr_eq(copy, &own),
                "what is not held is not exchanged"
            );
            let mut other = copy.as_ref().as_ref().to_vec();
            other[0] ^= 1;
            ChunkCopy::new(chunk, own, Arc::new(other)).expect_err("another byte is another chunk");
        }
    }

    /// Checks that two views have the same bytes.
    pub(crate) fn compare(&self, one: &View, other: &View) {
        let images = [one, other].map(|view| view.snapshot().expect("nothing was refused"));
        let [first, second] = &images;
        assert_eq!(first.chunks, second.chunks);
        for (first, second) in first.sections.iter().zip(&second.sections) {
            assert_eq!(first, second);
        }
        assert_eq!(first.sections.len(), second.sections.len());
        for &chunk in &first.chunks {
            let bytes = |view: &View| {
                let bytes = view
                    .chunk_bytes(chunk.log, chunk.number)
                    .expect("it is listed");
                bytes.as_ref().as_ref().to_vec()
            };
            assert!(bytes(one) == bytes(other), "{chunk} differs");
        }
    }
}

/// A section of an image by name.
pub(crate) fn section<'a>(image: &'a ViewSnapshot, name: &str) -> Option<&'a [u8]> {
    let mut sections = image.sections.iter();
    sections
        .find(|section| section.0 == name)
        .map(|section| &*section.1)
}
